# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Requests for /heap: which are refused and with which message, what they leave behind, and the other formats."""

import os
import signal
import time
import unittest

import daemon
from heap_runs import Heap, HeapRequest, HeapWorkload, heap_of, is_sampling, links_of, until
from warm_up import warm_up
from workload import Workload

LANE = "heap"


class HeapRequests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.sites = HeapWorkload("sites")
        cls.addClassCleanup(cls.sites.__exit__)
        cls.links = links_of(cls.daemon)
        warm_up(cls.daemon, 5)

    def assert_nothing_attached(self):
        """Asserts that the probes are removed soon, and the process is free for the next request."""
        self.assertTrue(until(lambda: self.daemon.get("/status").json()["heaps"]["watched"] == 0))
        # The worker that attaches and detaches probes closes the links a little later.
        self.assertTrue(until(lambda: links_of(self.daemon) <= self.links), self.links_now())

    def assert_refused(self, query, status, *words, method="GET"):
        answer = self.daemon.request(method, "/heap?" + query)
        self.assertEqual(answer.status, status, answer.text)
        self.assertEqual(answer.text.count("\n"), 1)
        for word in words:
            self.assertIn(word, answer.text)
        self.assertEqual(answer.headers["X-Go-Pprof"], "1")

    def links_now(self):
        """Returns the links of heap profiles that a test has added."""
        return links_of(self.daemon) - self.links

    def attached(self):
        """Waits until there are probes."""
        return until(self.links_now)

    def test_bad_parameters(self):
        self.assert_refused("", 400, "pid=")
        self.assert_refused("pid=1&rate=lots", 400, "rate=lots")
        self.assert_refused("pid=1&leaks=1&peak=1", 400, "exclude")

    def test_no_such_process(self):
        with Workload("second") as gone:
            pass
        self.assert_refused(f"pid={gone.pid}", 404, f"no process {gone.pid}")

    def test_a_thread_is_no_process(self):
        with Workload("spin_two") as workload:
            threads = until(lambda: self.threads_of(workload.pid))
            self.assert_refused(f"pid={threads[0]}", 404, f"thread of process {workload.pid}")

    @staticmethod
    def threads_of(pid):
        return [int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid]

    def test_head_attaches_nothing(self):
        answer = self.daemon.request("HEAD", f"/heap?pid={self.sites.pid}&seconds=600")
        self.assertEqual((answer.status, answer.body), (200, b""))
        self.assertLess(answer.seconds, 30)
        self.assert_nothing_attached()

    def test_it_is_detached_afterwards(self):
        request = HeapRequest(self.daemon, f"pid={self.sites.pid}&seconds=2&force=1")
        self.assertTrue(self.attached())
        request.heap()
        self.assert_nothing_attached()

    def test_one_at_a_time(self):
        request = HeapRequest(self.daemon, f"pid={self.sites.pid}&seconds=4&force=1")
        self.assertTrue(self.attached())
        self.assert_refused(f"pid={self.sites.pid}", 409)
        request.heap()

    def test_hanging_up_detaches(self):
        for attempt in range(3):
            with self.subTest(attempt):
                connection = self.daemon.connect()
                query = f"pid={self.sites.pid}&seconds=600&force=1"
                connection.sendall(f"GET /heap?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                self.assertTrue(self.attached())
                connection.close()
                self.assert_nothing_attached()
        self.assertGreater(heap_of(self.daemon, f"pid={self.sites.pid}&seconds=1&force=1").sum("alloc_space"), 0)

    def test_a_process_that_ends(self):
        with HeapWorkload("sites") as workload:
            request = HeapRequest(self.daemon, f"pid={workload.pid}&seconds=600&force=1&rate=2KiB")
            # Links that count calls come first; they are removed before the process is sampled.
            counting = self.attached()
            self.assertTrue(until(lambda: self.links_now() - counting))
            time.sleep(2)
            workload.process.kill()
        profile = request.heap()
        self.assertIn("the process ended", profile.comment("ended early"))
        self.assert_nothing_attached()

    def test_too_dear(self):
        with HeapWorkload("tiny") as tiny:
            self.assert_refused(f"pid={tiny.pid}&seconds=1", 422, f"pid {tiny.pid}", "a second", "10 %", "force=1")
            self.assert_nothing_attached()
            profile = heap_of(self.daemon, f"pid={tiny.pid}&seconds=1&force=1&rate=16KiB")
            self.assertGreater(profile.sum("alloc_space", "site_tiny") / profile.sum("alloc_space"), 0.99)
        self.assert_nothing_attached()

    def heap_with_losses(self, tiny, query):
        """Returns a profile of more samples than the ring buffer holds while the daemon is stopped."""
        request = HeapRequest(self.daemon, query)
        self.assertTrue(until(lambda: is_sampling(self.daemon)))
        os.kill(self.daemon.pid, signal.SIGSTOP)
        used = tiny.cpu_seconds()
        busy = until(lambda: tiny.cpu_seconds() > used + 0.5)
        os.kill(self.daemon.pid, signal.SIGCONT)
        self.assertTrue(busy)
        request.join()
        self.assertEqual(request.answer.status, 200)
        return request.answer

    def test_what_is_lost_is_said_first(self):
        with HeapWorkload("tiny") as tiny:
            query = f"pid={tiny.pid}&seconds=4&force=1&rate=1"
            text = self.heap_with_losses(tiny, query + "&format=text")
            self.assert_nothing_attached()
            profile = Heap(self.heap_with_losses(tiny, query).body)
        said = text.headers["X-Profd-Incomplete"]
        self.assertRegex(said, r"^[1-9]\d* of \d+ samples were lost ")
        self.assertEqual(text.text.splitlines()[0], f"Incomplete: {said}")
        self.assertTrue(profile.comments[3].startswith("incomplete: "), profile.comments)  # after the host, the kernel and profd
        self.assertRegex(profile.comment("calls="), r"a second before and [1-9]\d{4,} meanwhile")

    def test_formats(self):
        query = f"/heap?pid={self.sites.pid}&seconds=1&force=1&rate=4KiB&format="
        answer = self.daemon.get(query + "folded")
        self.assertEqual(answer.status, 200, answer.text)
        stacks = dict(line.rsplit(" ", 1) for line in answer.text.splitlines())
        held = sum(int(n) for stack, n in stacks.items() if "site_six" in stack)
        total = sum(map(int, stacks.values()))
        self.assertGreater(total, 64 << 10, "bytes, not samples")
        self.assertAlmostEqual(held / total, 0.6, delta=0.15)

        answer = self.daemon.get(query + "text&sort=cum")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertIn("Type: inuse_space", answer.text)
        rows = [line.split()[-1] for line in answer.text.split("name\n", 1)[1].splitlines()]
        self.assertLess(rows.index("site_six"), rows.index("site_three"))
        self.assertLess(rows.index("site_three"), rows.index("site_one"))

        answer = self.daemon.get(query + "pprof")
        self.assertRegex(answer.headers["Content-Disposition"], r'filename="profd-.*-heap\.pb\.gz"')
