# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""GPUs on the page. The test host has none, so the answers of /status and /gpu are invented."""

from harness import WebTest

import profiles

LANE = "views"
MIB = 1 << 20


def process(pid, comm, device, in_use):
    return {"pid": pid, "comm": comm, "device": device, "in_use_bytes": in_use, "in_use": {"device": in_use},
            "launches_per_second": 1234.5, "wait_share": 0.25, "copies": {}}


def answer(pid):
    unknown = {"index": 1, "name": "", "uuid": "", "memory_bytes": None, "memory_used_bytes": None, "busy_percent": None}
    return {"on": True, "why": "", "nvml": {"on": True, "why": ""},
            "devices": [{**unknown, "index": 0, "name": "<b>H100</b>", "memory_bytes": 80 * MIB,
                         "memory_used_bytes": 20 * MIB, "busy_percent": 63}, unknown],
            "processes": [process(pid, "<i>spin</i>", "0", 3 * MIB), process(pid, "<i>spin</i>", "unknown", MIB)]}


class Gpu(WebTest):
    def setUp(self):
        super().setUp()
        self.status = self.daemon.get("/status").json()
        self.have("cpu", "gpu_memory", "gpu_launch")
        self.page.route("**/status", lambda route: route.fulfill(json=self.status))
        self.answer = answer(self.spin.pid)
        self.page.route("**/gpu", lambda route: route.fulfill(json=self.answer))

    def have(self, *kinds):
        """Sets the kinds of profile that are on."""
        self.status["sources"] = [{"name": name, "on": name in kinds, "why": ""}
                                  for name in ("cpu", "gpu_memory", "gpu_launch", "gpu_kernel")]

    def test_devices_and_processes(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.wait_for_selector("#gpu:not([hidden])")
        shown = self.text("#gpu")
        self.assertIn("0 <b>H100</b>", shown)
        self.assertIn("20.0 MiB of 80.0 MiB", shown)
        self.assertEqual(self.page.locator("#gpu progress").count(), 2)
        self.assertEqual(self.page.get_by_label("Busy, device 0").evaluate("bar => bar.value / bar.max"), 0.63)
        rows = self.page.locator("#gpu tbody tr")
        self.assertEqual(rows.count(), 2)
        self.assertIn(f"<i>spin</i> ({self.spin.pid})", rows.nth(0).inner_text())
        self.assertIn("25 %", rows.nth(0).inner_text())
        self.assertEqual(self.violations(), [])
        self.screenshot("gpu")

    def test_column_of_the_processes(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.locator("#processes thead th", has_text="GPU").wait_for()
        chosen = self.page.locator("#processes tr.chosen")
        # The sum of both rows of the process.
        self.assertTrue(chosen.inner_text().rstrip().endswith("4.00 MiB"), chosen.inner_text())

    def test_kinds_and_values(self):
        writer = profiles.Writer(types=(("alloc_space", "bytes"), ("inuse_space", "bytes")))
        memory = writer.add(["main", "hold"], 4 * MIB, 2 * MIB).bytes()
        self.page.route("**/profile?type=gpu_memory*", lambda route: route.fulfill(body=memory))
        self.open(f"last=10s&pid={self.spin.pid}")
        choice = self.page.locator("#control-profile")
        self.assertEqual(choice.locator("option").all_inner_texts(), ["CPU", "GPU memory", "GPU launches"])
        choice.select_option(label="GPU memory")
        self.page.locator("#summary", has_text="2.00 MiB of inuse_space").wait_for()
        self.page.locator("#control-value").select_option("alloc_space")
        self.page.locator("#summary", has_text="4.00 MiB of alloc_space").wait_for()

    def test_driver_that_says_nothing(self):
        self.answer["devices"] = []
        self.answer["nvml"] = {"on": False, "why": "no <libnvidia-ml.so.1> here"}
        self.open("last=10s")
        self.page.get_by_text("The driver's figures are not available: no <libnvidia-ml.so.1> here").wait_for()

    def test_nobody_uses_one(self):
        self.have("cpu")
        asked = []
        self.page.on("request", lambda request: asked.append(request.url))
        self.open("last=10s")
        self.page.wait_for_selector("#processes tbody tr")
        self.assertTrue(self.page.locator("#gpu").is_hidden())
        self.assertFalse([url for url in asked if url.endswith("/gpu")])
