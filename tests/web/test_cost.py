# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The page shows what profd itself costs, as /status reports it, and updates it."""

from harness import WebTest

LANE = "views"
MIB = 1 << 20


class Cost(WebTest):
    def setUp(self):
        super().setUp()
        self.status = self.daemon.get("/status").json()
        self.status["cost"] = {
            "cpu_seconds": {"daemon": 12.5, "readers": 3.25, "bpf": 0.004},
            "cpu_percent": {"daemon": 0.081, "readers": 0.02, "bpf": 0.0031},
            "memory_bytes": {"daemon": 9 * MIB, "readers": 4 * MIB, "maps": 10 * MIB, "rings": MIB // 2},
            "control_group": {"bytes": 30 * MIB, "kernel_bytes": 12 * MIB},
        }

    def tell(self):
        self.page.route("**/status", lambda route: route.fulfill(json=self.status))

    def line(self):
        return self.text("#cost summary")

    def cells(self, part):
        row = self.page.locator("#cost tbody tr", has=self.page.get_by_role("rowheader", name=part, exact=True))
        return row.locator("td").all_inner_texts()

    def test_line_and_parts(self):
        self.tell()
        self.open(f"last=10s&pid={self.spin.pid}")
        self.assertEqual(self.line(), "profd itself: 0.10 % of a CPU, 23.5 MiB")
        self.assertFalse(self.page.locator("#cost table").is_visible())
        self.assertEqual(self.violations(), [])
        self.page.locator("#cost summary").focus()
        self.page.keyboard.press("Enter")
        self.page.locator("#cost table").wait_for()
        self.assertEqual(self.cells("Daemon"), ["0.08 %", "12.5 s", "9.00 MiB"])
        self.assertEqual(self.cells("Reader processes"), ["0.02 %", "3.25 s", "4.00 MiB"])
        self.assertEqual(self.cells("BPF programs, while they take samples"), ["<0.01 %", "4.00 ms", ""])
        self.assertEqual(self.cells("BPF maps"), ["", "", "10.0 MiB"])
        self.assertEqual(self.cells("Perf ring buffers"), ["", "", "512 KiB"])
        self.assertIn("30.0 MiB, of which 12.0 MiB kernel memory", self.text("#cost p"))
        self.assertEqual(self.violations(), [])
        self.screenshot("cost")

    def test_it_changes_live(self):
        self.tell()
        self.open(f"last=10s&live=1&pid={self.spin.pid}")
        self.page.locator("#cost summary").click()
        self.status["cost"]["cpu_percent"]["daemon"] = 12.34
        self.status["cost"]["memory_bytes"]["maps"] = 100 * MIB
        self.status["cost"]["control_group"] = None
        self.wait_for("document.querySelector('#cost summary').textContent.includes('12.4 % of a CPU, 114 MiB')")
        self.assertTrue(self.page.locator("#cost table").is_visible(), "it stays open")
        self.assertEqual(self.text("#cost p"), "")

    def test_what_this_daemon_costs(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.assertRegex(self.line(), r"^profd itself: (\d+\.\d+|<0\.01) % of a CPU, \d[\d.]* MiB$")
