# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What limits the chosen process. The reports are written in this file; tests/system tests where they come from."""

from harness import WebTest

LANE = "host"
REPORT = {
    "start_ms": 1_700_000_000_000, "seconds": 30, "incomplete": "",
    "verdict": "Bound by <i>locks</i>: other threads hold them, 61.3 % of the working time", "cpus": 1.02, "threads": 5,
    "idle_threads": 2, "working_seconds": 30.1, "waiting_for_work_seconds": 0.5,
    "activities": {"user": {"title": "user code", "seconds": 11.6, "share": 0.386, "error": 0.012},
                   "fault": {"title": "page faults", "seconds": 0.003, "share": 0.0001, "error": 0},
                   "lock": {"title": "waits for a lock", "seconds": 18.5, "share": 0.613, "error": 0}},
    "places": [{"stack": "pthread_mutex_lock < h<b> < main", "share": 0.5, "speedup": 2.0},
               {"stack": "spins", "share": 0.1, "speedup": None}],
}


class Report(WebTest):
    def setUp(self):
        super().setUp()
        status = self.daemon.get("/status").json()
        sources = [{"name": name, "on": True, "why": ""} for name in ("cpu", "offcpu")]
        self.page.route("**/status", lambda route: route.fulfill(json={**status, "sources": sources}))
        self.page.route("**/report?*", self.answer)
        self.asked = []

    def answer(self, route):
        self.asked.append(route.request.url)
        route.fulfill(json=REPORT)

    def test_of_the_chosen_process(self):
        self.open(f"last=30s&pid={self.spin.pid}")
        self.page.wait_for_selector("#report:not([hidden])")
        self.assertIn("last=30s&format=json", self.asked[0])
        text = self.text("#report")
        self.assertIn(f"What limits process {self.spin.pid}", text)
        self.assertIn(REPORT["verdict"], text)
        self.assertIn("1.02 CPUs in use · 30.1 s of 3 threads · left out: 2 idle, 0.5 s waiting for work", text)
        parts = self.page.locator("#report li").all_inner_texts()
        self.assertEqual([part.split("\n")[0] for part in parts], ["waits for a lock", "user code"])
        self.assertIn("38.6 % ± 1.2", parts[1])
        self.page.locator("#report summary").click()
        rows = self.page.locator("#report tbody tr").all_inner_texts()
        self.assertEqual([row.split() for row in rows],
                         ["50.0 % 2.00 × pthread_mutex_lock < h<b> < main".split(), "10.0 % > 1000 × spins".split()])
        self.assertEqual(self.violations(), [])
        self.screenshot("report")
        self.page.locator(".chips button").click()
        self.page.wait_for_selector("#report", state="hidden")
