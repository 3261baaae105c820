# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Many readers at once cost the work of one reader, and idle connections cost nothing."""

import concurrent.futures
import contextlib
import resource
import socket
import statistics
import threading
import time
import unittest

from daemon import CPUS, Daemon
from profile_pb import Profile
from workload import Workload

READERS = 200
IDLE = 10000
TIMERS = 4  # of each CPU, where there is no PMU


class Load(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)

    def assert_sockets_closed(self, expected):
        end = time.monotonic() + 10
        while self.daemon.fd_count("socket") > expected and time.monotonic() < end:
            time.sleep(0.1)
        self.assertLessEqual(self.daemon.fd_count("socket"), expected)

    def test_200_concurrent_readers_share_one_capture(self):
        with Workload("syscalls", 1):
            self.daemon.profile("seconds=1")  # makes profd cache the kernel's names, which is no growth
        with Workload("spin_two"):
            rss_before, bpf_before = self.daemon.rss_kib(), self.daemon.bpf_ids()
            self.assertTrue(bpf_before["prog"])

            barrier = threading.Barrier(READERS)

            def read():
                barrier.wait()
                return self.daemon.get("/profile?seconds=5&idle=1", timeout=60)

            slowest = 0
            with concurrent.futures.ThreadPoolExecutor(READERS) as pool:
                start = time.monotonic()
                futures = [pool.submit(read) for _ in range(READERS)]
                time.sleep(1)  # by then all requests are in flight
                while time.monotonic() < start + 4.5:
                    health = self.daemon.get("/healthz")
                    self.assertEqual(health.status, 200)
                    slowest = max(slowest, health.seconds)
                    time.sleep(0.1)
                bpf_during = self.daemon.bpf_ids()
                answers = [future.result() for future in futures]

        self.assertEqual({answer.status for answer in answers}, {200})
        self.assertLess(slowest, 0.050)
        self.assertEqual(len(bpf_during["prog"]), len(bpf_before["prog"]))
        totals = [Profile(answer.body).total() for answer in answers]
        # Each timer may tick once more in one window than in another.
        self.assertLessEqual(max(totals) - min(totals), CPUS * TIMERS, sorted(set(totals)))
        time.sleep(1)
        # The bound includes the unwind tables of programs that run meanwhile.
        self.assertLess(self.daemon.rss_kib() - rss_before, 12 * 1024)

    def test_who_asks_again_and_again_has_ten_flips_a_second(self):
        self.daemon.profile("last=1s")  # reads the names once
        before, start, times = self.daemon.metrics()["profd_drains_total"], time.monotonic(), []
        while time.monotonic() < start + 6:
            answer = self.daemon.get(f"/profile?last=1s&pid={self.daemon.pid}&kernel=0")
            self.assertEqual(answer.status, 200)
            times.append(answer.seconds)
        seconds = time.monotonic() - start
        drains = self.daemon.metrics()["profd_drains_total"] - before
        # The first requests need not wait for each other.
        self.assertLess(statistics.median(times[:20]), 0.05, times[:20])
        self.assertLessEqual(drains, 32 + 10 * seconds + seconds + 3)

    def test_a_hurry_does_not_move_a_moment_that_was_asked_for(self):
        with Workload("spin_two"), concurrent.futures.ThreadPoolExecutor(4) as pool:
            waiting = [pool.submit(self.daemon.profile, "seconds=3") for _ in range(4)]
            while not all(future.done() for future in waiting):
                self.assertEqual(self.daemon.get("/profile?last=1s").status, 200)
            for future in waiting:
                self.assertAlmostEqual(future.result().duration_ns / 1e9, 3, delta=0.02)

    def test_10000_idle_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.assertGreater(hard, IDLE + 500, "raise the hard limit of open files")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        sockets_before, rss_before = self.daemon.fd_count("socket"), self.daemon.rss_kib()

        with contextlib.ExitStack() as stack:
            for number in range(IDLE):
                try:
                    s = stack.enter_context(
                        socket.create_connection(("127.0.0.1", self.daemon.port), 10)
                    )
                except OSError as error:
                    self.fail(f"connection {number}: {error}")
                if number % 2:
                    s.sendall(b"GET /profile?seconds=1 HTTP/1.1\r\nHost: localhost\r\n")  # an incomplete request
            for _ in range(5):
                health = self.daemon.get("/healthz", timeout=10)
                self.assertEqual(health.status, 200)
                self.assertLess(health.seconds, 1.0)

        self.assert_sockets_closed(sockets_before)
        self.assertTrue(self.daemon.alive())
        self.assertLess(self.daemon.rss_kib() - rss_before, 64 * 1024)

    def test_clients_that_go_away(self):
        sockets_before = self.daemon.fd_count("socket")
        for _ in range(50):
            with self.daemon.connect() as s:
                s.sendall(b"GET /profile?seconds=2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertTrue(self.daemon.alive())
        self.assert_sockets_closed(sockets_before)
        self.assertTrue(self.daemon.alive())
