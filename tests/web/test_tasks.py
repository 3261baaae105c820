# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The tasks of the chosen process. The answers are written in this file; tests/system tests where they come from."""

from harness import WebTest

LANE = "host"
TASKS = {
    "pid": 7, "runtime": "python", "runtime_version": "3.11", "tasks": 12, "left_out": 0, "incomplete": True,
    "groups": [
        {"count": 11, "state": "waiting", "cut": False, "names": [f"job-<i>{i}</i>" for i in range(10)], "awaits": ["other"],
         "frames": [{"function": "handles", "file": "/srv/a<b>.py", "line": 12}, {"function": "sleep", "file": "/lib/tasks.py", "line": 3}]},
        {"count": 1, "state": "running", "cut": False, "names": ["main"], "awaits": [],
         "frames": [{"function": "main", "file": "/srv/a.py", "line": 90}]},
    ],
}


class Tasks(WebTest):
    def setUp(self):
        super().setUp()
        self.asked = []
        self.answers = TASKS
        self.page.route("**/tasks?*", self.answer)
        self.have_tasks = True
        self.page.route("**/processes", self.list)

    def list(self, route):
        rows = self.daemon.get("/processes").json()
        route.fulfill(json=[{**row, "tasks": self.have_tasks and row["pid"] == self.spin.pid} for row in rows])

    def answer(self, route):
        self.asked.append(route.request.url)
        if self.answers:
            route.fulfill(json=self.answers)
        else:
            route.fulfill(status=404, body="process 7 has ended\n")

    def test_of_the_chosen_process(self):
        self.open(f"pid={self.spin.pid}")
        self.page.wait_for_selector("#tasks:not([hidden])")
        self.assertIn(f"pid={self.spin.pid}&format=json", self.asked[0])
        self.assertIn("12 tasks of process 7", self.text("#tasks"))
        self.page.locator("#tasks summary").click()
        self.page.wait_for_selector("#tasks tbody tr")
        self.assertIn("python 3.11 · not all could be read", self.text("#tasks"))
        rows = [row.split() for row in self.page.locator("#tasks tbody tr").all_inner_texts()]
        self.assertEqual(rows[0][:3], ["11", "waiting", "job-<i>0</i>,"])
        self.assertEqual(" ".join(rows[0]).split("…")[1].split(), "handles /srv/a<b>.py:12 sleep /lib/tasks.py:3 waits for other".split())
        self.assertEqual(rows[1], "1 running main main /srv/a.py:90".split())
        self.assertEqual(self.violations(), [])
        self.screenshot("tasks")

    def test_it_is_read_while_it_is_open(self):
        self.open(f"pid={self.spin.pid}&live=1")
        self.page.wait_for_selector("#tasks:not([hidden])")
        self.page.wait_for_timeout(4500)
        self.assertEqual(len(self.asked), 1)
        self.page.locator("#tasks summary").click()
        self.page.wait_for_timeout(4500)
        self.assertGreater(len(self.asked), 2)
        self.answers, self.expected = None, ("404",)
        self.page.locator("#tasks p", has_text="process 7 has ended").wait_for(state="visible")

    def test_other_programs_have_none(self):
        self.have_tasks = False
        self.open(f"pid={self.spin.pid}")
        self.page.wait_for_timeout(1000)
        self.assertEqual(self.asked, [])
        self.assertTrue(self.page.locator("#tasks").is_hidden())
