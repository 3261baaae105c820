# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The cost of /processes with very long command lines, and the bound of an answer's size."""

import contextlib
import os
import subprocess
import tempfile
import threading
import time
import unittest

from daemon import Daemon
from heap_runs import until
from workload import Workload, workload_path

BESIDE = True
HIS = 54323  # a user ID that no account has
HUGE = 64  # processes with command lines of 1.9 MB


@contextlib.contextmanager
def waiting(*words):
    """Runs an idle process with these words at the end of its command line."""
    process = subprocess.Popen(["sh", "-c", "read x", *words], stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.communicate()


class CommandLines(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("--answer-memory", "4MiB")
        self.addCleanup(self.daemon.stop)

    def test_huge_ones_are_cut(self):
        words = ["first-word"] + ["x" * 100000] * 19
        with contextlib.ExitStack() as stack:
            pids = set()
            for _ in range(HUGE):
                pids.add(stack.enter_context(waiting(*words)).pid)
            self.assertTrue(until(lambda: pids <= {row["pid"] for row in self.daemon.json("/processes")}))
            rss, slowest = self.daemon.rss_kib(), 0.0
            peak, done = rss, threading.Event()

            def watch():
                nonlocal slowest, peak
                while not done.wait(0.02):
                    slowest = max(slowest, self.daemon.get("/healthz").seconds)
                    peak = max(peak, self.daemon.rss_kib())

            watching = threading.Thread(target=watch)
            watching.start()
            try:
                answers = [self.daemon.get("/processes?cmdline=1") for _ in range(3)]
                tables = self.daemon.get("/processes?cmdline=1&format=text")
            finally:
                done.set()
                watching.join()
            for answer in answers:
                self.assertEqual(answer.status, 200, answer.text[:200])
                self.assertLess(len(answer.body), 2 << 20)
                rows = {row["pid"]: row["cmdline"] for row in answer.json()}
                for pid in pids:
                    self.assertIn("sh -c read x first-word xxx", rows[pid])
                    self.assertTrue(rows[pid].endswith("x [...]"), rows[pid][-20:])
                    self.assertLessEqual(len(rows[pid]), 4096 + len(" [...]"))
            self.assertEqual(tables.status, 200)
            self.assertLess(peak - rss, 32 * 1024, "of 120 MB")
            self.assertLess(slowest, 1)

    def test_short_ones_are_whole(self):
        with waiting("", "two words", "\n\x1b[31m") as process:
            self.assertTrue(until(lambda: any(row["pid"] == process.pid for row in self.daemon.json("/processes"))))
            rows = {row["pid"]: row for row in self.daemon.json("/processes?cmdline=1")}
            self.assertEqual(rows[process.pid]["cmdline"], "sh -c read x  two words \n?[31m")
            self.assertEqual({"pid", "comm", "runtime", "runtime_version", "tasks", "unit", "container", "pod", "cpu_percent",
                              "samples", "gil", "rss_bytes", "swap_bytes", "leak", "cmdline"}, set(rows[process.pid]))


class Answers(unittest.TestCase):
    def test_one_that_alone_is_too_large(self):
        """Each stack of the program has a megabyte of names."""
        with Daemon("--answer-memory", "1MiB") as profd, tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "plain")
            subprocess.run(["strip", "-g", "-o", plain, workload_path("hostile")], check=True)
            with Workload(plain, "hostile", 100) as process:
                target = f"/profile?last=1m&format=folded&pid={process.pid}"
                self.assertTrue(until(lambda: profd.get(target).status == 507))
                answer = profd.get(target)
                self.assertIn("answer-memory", answer.text)
                self.assertNotIn("Retry-After", answer.headers)
                self.assertGreaterEqual(profd.metrics()["profd_http_refused_large_total"], 2)
                self.assertEqual(profd.json("/status")["http"]["answer_bytes"], 0)
                self.assertEqual(profd.get("/metrics").status, 200)

    def test_too_long_paths_of_one_user_leave_room_for_others(self):
        with Daemon("--answer-memory", "1MiB") as profd, tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            plain = os.path.join(folder, "plain")
            subprocess.run(["strip", "-g", "-o", plain, workload_path("hostile")], check=True)
            with Workload(plain, "hostile", 100, user=HIS) as his, Workload("cpubound", 60) as ours:
                # The query selects these two processes, because others of the test's user may have long paths as well.
                target = f"/profile?last=1m&format=folded&pid={his.pid}&pid={ours.pid}"
                self.assertTrue(until(lambda: ";[too long for this answer] " in profd.get(target).text))
                lines = profd.get(target).text.splitlines()
                short = {line.rsplit(" ", 1)[0] for line in lines if "[too long" in line}
                # Before its exec the process was this test's Python, as the other user.
                self.assertEqual(short - {"python3;[too long for this answer]"}, {"hostile;[too long for this answer]"})
                self.assertTrue(any(line.startswith("cpubound;") for line in lines))
