# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""/profile?type=wall&tasks=1: all time of an asyncio program, by what its tasks wait for."""

import concurrent.futures
import contextlib
import os
import sys
import time
import unittest

from daemon import Daemon
from pythons import name_of, pythons, script
from test_python_tasks import FIRST, LAST, wait_known
from warm_up import warm_up
from workload import Workload

BESIDE = True

SECONDS = 8
ABOVE = ("[awaits]", "main")


def those_asked():
    return [python for python in pythons() if FIRST <= python.minor <= LAST and not python.free_threaded]


def shares(wall):
    """Returns {(task, state, function): share of the elapsed time}, of the functions that the program's source has."""
    found = {}
    for sample in wall.samples:
        for function in ("rests", "computes", "listens"):
            if function in sample.names:
                key = (sample.labels.get("task", ""), sample.labels["state"], function)
                found[key] = found.get(key, 0) + sample.values[1] / wall.duration_ns
    return found


class Awaits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        asked = those_asked()
        with (Daemon("--waits", "yes") as server, contextlib.ExitStack() as stack,
              concurrent.futures.ThreadPoolExecutor(len(asked) + 1) as pool):
            warm_up(server, 5)
            started = {python: stack.enter_context(Workload(python.path, script("async_time"))) for python in asked}
            for workload in started.values():
                assert wait_known(server, workload.pid).status == 200
            time.sleep(1)
            cls.pid = next(iter(started.values())).pid
            text = pool.submit(server.get, f"/profile?type=wall&pid={cls.pid}&seconds=2&tasks=1&native=0&format=text")
            shown = {python: pool.submit(server.profile, f"type=wall&pid={workload.pid}&seconds={SECONDS}&tasks=1")
                     for python, workload in started.items()}
            cls.found = {name_of(python): (workload.pid, shown[python].result(),
                                           server.profile(f"type=wall&pid={workload.pid}&last={SECONDS}s"))
                         for python, workload in started.items()}
            cls.text = text.result().text
            cls.refused = [(words, server.get(f"/profile?{query.format(pid=cls.pid)}")) for query, words in REFUSED]
            cls.other = server.get(f"/profile?type=wall&pid={server.pid}&seconds=1&tasks=1")

    def each(self):
        for python, found in self.found.items():
            with self.subTest(python):
                yield found

    def test_shares(self):
        for _, wall, _ in self.each():
            found = shares(wall)
            if os.environ.get("FIGURES"):
                print(found, wall.comments, file=sys.stderr)
            listens = sum(share for key, share in found.items() if key[0] == "listener")
            self.assertAlmostEqual(listens, 1, delta=0.01)
            rests, ready = (found.get(("worker", state, "rests"), 0) for state in ("waiting", "ready"))
            computes = sum(share for (task, _, function), share in found.items() if function == "computes" and not task)
            # A change between two readings is some 20 ms from where it was, and there are 40 of them: 1.6 % of the time. On busy
            # CPUs it takes longer to compute.
            runs = found[("", "running", "computes")]
            self.assertAlmostEqual(rests / (rests + runs), 0.75, delta=0.08)
            # There, waits for a CPU may not be sampled.
            self.assertAlmostEqual(rests + ready + computes, 1, delta=0.15)

    def test_who_waits_for_whom(self):
        """What the task has computed is below main() as well, and nothing is left of the loop."""
        for _, wall, _ in self.each():
            for function in ("rests", "computes"):
                its = [s for s in wall.samples if function in s.names]
                whole = sum(s.values[1] for s in its)
                below = sum(s.values[1] for s in its if tuple(s.names[-2:]) == ABOVE and "works" in s.names)
                self.assertGreater(below, 0.98 * whole, {tuple(s.names) for s in its})
            listens = {tuple(s.names) for s in wall.samples if s.labels.get("task") == "listener"}
            self.assertEqual(listens, {("Event.wait", "listens")})

    def test_labels(self):
        for pid, wall, _ in self.each():
            for sample in wall.samples:
                if "task" in sample.labels:
                    self.assertEqual((sample.labels["pid"], sample.labels["runtime"]), (pid, "python"))
                    self.assertIn("python", sample.labels["comm"])

    def test_the_loop_is_left_out(self):
        for _, wall, whole in self.each():
            def idle(profile):
                return sum(s.values[1] for s in profile.samples if "BaseEventLoop._run_once" in s.names and s.labels["state"] == "sleep")
            self.assertGreater(idle(whole) / whole.duration_ns, 0.15)  # 0.7 on quiet CPUs, 0.3 on busy ones
            self.assertLess(idle(wall) / wall.duration_ns, 0.02)
            self.assertTrue(any("event loops that wait for their tasks left out: " in text for text in wall.comments), wall.comments)
            readings = next(text for text in wall.comments if text.startswith("tasks of process "))
            self.assertRegex(readings, r"^tasks of process \d+: \d\d+ readings in 8\.\d s, 3 tasks at most$")
            self.assertFalse(any(text.startswith("incomplete") for text in wall.comments), wall.comments)

    def test_as_a_text(self):
        self.assertRegex(self.text, r"\blistens\b")
        self.assertRegex(self.text, r"(?m)^States: waiting [\d.]+ %")

    def test_what_is_refused(self):
        for words, answer in self.refused:
            self.assertEqual(answer.status, 400, answer.text)
            self.assertIn(words, answer.text)
            self.assertEqual(answer.text.count("\n"), 1)
        self.assertEqual(self.other.status, 404)
        self.assertIn("does not run Python", self.other.text)


REFUSED = (
    ("seconds=1&tasks=1&pid={pid}", "requires type=wall"),
    ("type=offcpu&seconds=1&tasks=1&pid={pid}", "requires type=wall"),
    ("type=wall&last=1s&tasks=1&pid={pid}", "requires seconds="),
    ("type=wall&seconds=1&tasks=1", "requires pid="),
    ("type=wall&seconds=1&tasks=1&pid={pid}&children=1", "no other selection"),
    ("type=wall&seconds=1&tasks=2&pid={pid}", "tasks=2"),
    ("type=wall&seconds=1&tasks=1&pid={pid}&format=perfetto", "perfetto"),
)


class Ends(unittest.TestCase):
    def test_a_program_that_ends_meanwhile(self):
        with (Daemon("--waits", "yes") as server, Workload(those_asked()[0].path, script("async_time")) as workload,
              concurrent.futures.ThreadPoolExecutor(1) as pool):
            assert wait_known(server, workload.pid).status == 200
            asked = pool.submit(server.profile, f"type=wall&seconds=4&tasks=1&pid={workload.pid}")
            time.sleep(1.5)
            workload.process.kill()
            wall = asked.result()
        self.assertTrue(any(text.startswith("incomplete: the tasks of process ") for text in wall.comments), wall.comments)
        self.assertGreater(sum(shares(wall).values()), 0.2)

    def test_clients_that_leave(self):
        """Eight profiles of tasks are made at once; those whose clients have gone leave room."""
        with Daemon("--waits", "yes") as server, Workload(those_asked()[0].path, script("async_time")) as workload:
            assert wait_known(server, workload.pid).status == 200
            query = f"/profile?type=wall&tasks=1&pid={workload.pid}&seconds="
            clients = [server.connect() for _ in range(8)]
            for client in clients:
                client.sendall(f"GET {query}60 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            time.sleep(1)
            refused = server.get(query + "60")
            for client in clients:
                client.close()
            time.sleep(1)
            again = server.get(query + "1")
            waiting = server.connect()
            waiting.sendall(f"GET {query}60 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            time.sleep(0.5)
            server.stop()
            waiting.close()
        self.assertEqual(refused.status, 503, refused.text)
        self.assertIn("too many profiles of tasks", refused.text)
        self.assertEqual(again.status, 200)


if __name__ == "__main__":
    unittest.main()
