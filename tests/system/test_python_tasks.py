# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""/tasks: what asyncio's tasks wait for, compared with what the program itself finds."""

import contextlib
import json
import os
import subprocess
import time
import unittest

import daemon
from pythons import name_of, pythons, script, system_python
from workload import Workload

BESIDE = True

FIRST, LAST = 11, 14  # of 3.x, the versions whose tasks are known


def wait_known(server, pid):
    """Waits until the process is known to run Python; returns the answer."""
    end = time.monotonic() + 60
    while True:
        answer = server.get(f"/tasks?pid={pid}&format=json")
        # 503: perhaps the process has just called exec.
        if answer.status == 200 or time.monotonic() > end:
            return answer
        time.sleep(0.2)


class Tasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = daemon.shared()
        cls.found = {}
        with contextlib.ExitStack() as stack:
            for python in pythons():
                if not FIRST <= python.minor <= LAST or python.free_threaded:
                    continue
                workload = stack.enter_context(Workload(python.path, script("tasks"), stdin=subprocess.PIPE))
                stack.enter_context(workload.process.stdin)
                truth = json.loads(workload.process.stdout.readline())
                answer = wait_known(cls.server, workload.pid)
                cls.found[name_of(python)] = (truth, answer, cls.server.get(f"/tasks?pid={workload.pid}").text)

    def each(self):
        """Yields what the program found, the answer, and its groups by the names of their tasks."""
        for python, (truth, answer, _) in self.found.items():
            with self.subTest(python):
                self.assertEqual(answer.status, 200, answer.text)
                groups = answer.json()["groups"]
                yield truth, answer.json(), {name: group for group in groups for name in group["names"]}

    def test_each_coroutine_is_where_it_waits(self):
        for truth, answer, groups in self.each():
            self.assertGreaterEqual(len(truth), 13)
            self.assertEqual(answer["tasks"], len(truth) + 1)  # and the main one
            for name, frames in truth.items():
                self.assertEqual([list(frame.values()) for frame in groups[name]["frames"]], frames, name)

    def test_for_whom(self):
        for _, answer, groups in self.each():
            self.assertEqual(groups["waits"]["awaits"], ["handler-0"])
            self.assertEqual(set(groups["gathers"]["awaits"]), {"gathered-0", "gathered-1"})
            # From 3.14 on, a task knows who waits for it.
            told = {"grouped-0", "grouped-1"} if answer["runtime_version"] >= "3.14" else set()
            self.assertEqual(set(groups["groups"]["awaits"]), told)
            self.assertEqual(groups["sleeper"]["awaits"], [])
            self.assertEqual(groups["consumes"]["awaits"], [])

    def test_states(self):
        for _, _, groups in self.each():
            states = {name: groups[name]["state"] for name in ("fresh", "ready", "consumes", "waits", "Task-1")}
            self.assertEqual(states, {"fresh": "new", "ready": "ready", "consumes": "waiting", "waits": "waiting", "Task-1": "running"})
            self.assertEqual([frame["function"] for frame in groups["Task-1"]["frames"]], ["main"])

    def test_as_a_text(self):
        for _, _, text in self.found.values():
            self.assertRegex(text, r"\A\d+ tasks of process \d+, python 3\.\d+\n\n")
            self.assertRegex(text, r"(?m)^1 waiting: waits, for handler-0\n    waits_for  /.*/tasks\.py:\d+$")
            self.assertIn("s\xfc\u2603", text)

    def test_what_has_none(self):
        with Workload(system_python().path, script("turns")) as workload:
            answer = wait_known(self.server, workload.pid)
            rows = {row["pid"]: row for row in self.server.json("/processes")}
        self.assertEqual((answer.status, answer.json()["tasks"]), (200, 0), answer.text)
        row, other = rows[workload.pid], rows[self.server.pid]
        self.assertEqual((row["runtime"], row["runtime_version"], row["tasks"]), ("python", system_python().label, True))
        self.assertEqual((other["runtime"], other["runtime_version"], other["tasks"]), (None, None, False))

    def test_what_is_refused(self):
        for query, status, words in (("", 400, "pid= is missing"), ("?pid=x", 400, "pid=x"), ("?pid=4194000", 404, "4194000"),
                                     (f"?pid={self.server.pid}", 404, "does not run Python"), ("?pid=1&format=svg", 400, "svg")):
            answer = self.server.get("/tasks" + query)
            self.assertEqual(answer.status, status, answer.text)
            self.assertIn(words, answer.text)
            self.assertEqual(answer.text.count("\n"), 1)

    def test_a_process_that_ends_meanwhile(self):
        for _ in range(5):
            with Workload(system_python().path, script("tasks"), stdin=subprocess.PIPE) as workload:
                pid = workload.pid
                self.server.get(f"/tasks?pid={pid}")
            workload.process.stdin.close()
            self.assertIn(self.server.get(f"/tasks?pid={pid}").status, (404, 503))
        self.assertEqual(self.server.get(f"/tasks?pid={os.getpid()}").status, 200)


if __name__ == "__main__":
    unittest.main()
