# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Probes do no harm to a process or to the daemon, however either of them ends."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

import daemon
from heap_runs import HeapRequest, HeapWorkload, links_of, until
from workload import Workload

LANE = "heap"
CYCLES = 100
OF_OTHERS = re.compile(r"unwind_chunk$|gpu_|static_sites$|heap_usdt_|profd_bp\.rodata$")
ALLOCATORS = {"glibc": None, "jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4"}

# Idle until it reads a line; then it calls malloc as often as it can.
IDLE_THEN_BUSY = "import sys; print('ready', flush=True); sys.stdin.readline()\nwhile 1: bytes(2000)"
# The children allocate ten times what their parent does, so the sum shows whether they are counted.
FORKS = """
import os, sys
print('ready', flush=True)
sys.stdin.readline()
failed = 0
for _ in range(40):
    kept = [bytes(10000) for _ in range(250)]
    child = os.fork()
    if not child:
        kept = [bytes(100000) for _ in range(250)]
        os._exit(0)
    failed += os.waitpid(child, 0)[1] != 0
print('failed', failed, flush=True)
sys.stdin.readline()
"""


class Told(Workload):
    """A program that waits for a line on its input."""

    def __init__(self, *argv):
        super().__init__(*argv, stdin=subprocess.PIPE)

    def tell(self):
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()

    def __exit__(self, *unused):
        super().__exit__()
        self.process.stdin.close()


class HeapAttach(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.links = links_of(cls.daemon)

    def attached(self, request, links=None, at_least=3):
        """Waits for the probes that sample, which are more than those that count calls: counting needs one link for each file
        with an allocator, and the link on exec.
        """
        links = self.links if links is None else links
        until(lambda: request.answer or len(links_of(request.server) - links) >= at_least)
        self.assertIsNone(request.answer, request.answer and request.answer.text)
        self.assertGreaterEqual(len(links_of(request.server) - links), at_least)

    def assert_nothing_attached(self):
        self.assertTrue(until(lambda: links_of(self.daemon) <= self.links), links_of(self.daemon) - self.links)

    def hang_up_after(self, pid, seconds):
        connection = self.daemon.connect()
        connection.sendall(f"GET /heap?pid={pid}&seconds=600&force=1&rate=4KiB HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(seconds)
        connection.close()

    def objects(self):
        """Returns the daemon's BPF programs and maps, without those that other programs of the host can cause: chunks of unwind
        tables, and the parts loaded for static probes and for GPUs, each of which has read-only data.
        """
        return {(kind, name, number) for kind in ("prog", "map") for number, name in self.daemon.bpf_names(kind).items()
                if not OF_OTHERS.match(name or "")}

    def test_many_times(self):
        """Clients that disconnect at every stage, four at a time, leave nothing behind."""
        todo = queue.SimpleQueue()
        for i in range(CYCLES):
            todo.put(i * 0.9 / CYCLES)

        def cycles(pid):
            while True:
                try:
                    self.hang_up_after(pid, todo.get_nowait())
                except queue.Empty:
                    return

        with HeapWorkload("sites") as a, HeapWorkload("calls") as b, HeapWorkload("leak") as c, HeapWorkload("wave") as d:
            # The first request opens what stays open.
            first = HeapRequest(self.daemon, f"pid={a.pid}&seconds=1&force=1").heap()
            kinds = ["anon_inode:[pidfd]", first.comment("allocator=").split(" in ")[1].split(",")[0]]
            self.assert_nothing_attached()
            before, objects = [self.daemon.fd_count(kind) for kind in kinds], self.objects()
            threads = [threading.Thread(target=cycles, args=[w.pid]) for w in (a, b, c, d)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assert_nothing_attached()
            # The worker that attaches and detaches probes closes the descriptors a little later.
            def more():
                return [kind for kind, count in zip(kinds, before) if self.daemon.fd_count(kind) > count]

            until(lambda: not more())
            self.assertEqual(more(), [])
            self.assertEqual(self.objects(), objects)
            for workload in (a, b, c, d):
                self.assertIsNone(workload.process.poll())
            # The next profile is as complete as the first.
            self.assertGreater(HeapRequest(self.daemon, f"pid={a.pid}&seconds=1&force=1&rate=4KiB").heap().sampled, 100)

    def test_asked_again_at_once(self):
        """A client that disconnects and asks again at once is not refused, although its first probes are still being removed."""
        with HeapWorkload("sites") as sites:
            for _ in range(5):
                connection = self.daemon.connect()
                connection.sendall(f"GET /heap?pid={sites.pid}&seconds=600&force=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                self.assertTrue(until(lambda: len(links_of(self.daemon) - self.links) >= 3))
                connection.close()
                self.assertTrue(until(lambda: self.daemon.metrics()["profd_parked_requests"] == 0))
                self.assertEqual(HeapRequest(self.daemon, f"pid={sites.pid}&seconds=1&force=1").heap().comment("pid="),
                                 str(sites.pid))
        self.assert_nothing_attached()

    def test_exec(self):
        with Told("/bin/sh", "-c", "echo ready; read line; exec sleep 60") as shell:
            request = HeapRequest(self.daemon, f"pid={shell.pid}&seconds=600")
            self.attached(request)
            shell.tell()
            self.assertIn("exec", request.heap().comment("ended early"))
            self.assert_nothing_attached()
            self.assertIsNone(shell.process.poll())

    def test_one_that_becomes_busy(self):
        with Told(sys.executable, "-c", IDLE_THEN_BUSY) as python:
            request = HeapRequest(self.daemon, f"pid={python.pid}&seconds=600&budget=1%25")
            self.attached(request)
            python.tell()
            self.assertIn("budget", request.heap().comment("ended early"))
            self.assert_nothing_attached()

    def test_children_are_others(self):
        with Told(sys.executable, "-c", FORKS) as python:
            request = HeapRequest(self.daemon, f"pid={python.pid}&seconds=600&force=1&rate=4KiB")
            self.attached(request)
            python.tell()
            self.assertEqual(python.process.stdout.readline(), "failed 0\n")
            python.process.kill()
            profile = request.heap()
            # The parent's 40 times 2.5 MB, and the interpreter's own allocations.
            self.assertAlmostEqual(profile.sum("alloc_space") / 1e8, 1, delta=0.15)

    def test_exceptions(self):
        """Exceptions pass through every function that has probes; the program checks itself."""
        with HeapCpp(None) as glibc, HeapCpp(ALLOCATORS["jemalloc"]) as jemalloc, HeapCpp(ALLOCATORS["tcmalloc"]) as tcmalloc:
            programs = {"glibc": glibc, "jemalloc": jemalloc, "tcmalloc": tcmalloc}
            query = "seconds=3&force=1&rate=1KiB"
            requests = {name: HeapRequest(self.daemon, f"pid={p.pid}&{query}") for name, p in programs.items()}
            for name, request in requests.items():
                with self.subTest(name):
                    profile = request.heap()
                    self.assertTrue(profile.comment("allocator=").startswith(name), profile.comments)
                    self.assertGreater(profile.sampled, 100)
                    self.assertTrue(profile.comment("sampled=").endswith("lost=0"), profile.comments)
                    kept = profile.total(3, lambda s: any("maker" in name for name in s.names))
                    self.assertGreater(kept / profile.sum("inuse_space"), 0.9)
                    programs[name].assert_well(self)

    def test_the_leaf_is_who_asked_and_not_the_allocator(self):
        def flat(profile, function):
            return profile.total(3, lambda s: s.names[0].startswith(function)) / profile.sum("inuse_space")

        with HeapCpp(None) as program:
            ask = f"pid={program.pid}&seconds=2&force=1&rate=1KiB"
            self.assertEqual(flat(HeapRequest(self.daemon, ask).heap(), "operator new"), 0)
            self.assertGreater(flat(HeapRequest(self.daemon, f"{ask}&raw=1").heap(), "operator new"), 0.9)

    def test_a_daemon_that_is_killed(self):
        with daemon.Daemon() as server, HeapCpp(ALLOCATORS["jemalloc"]) as program:
            links = links_of(server)
            request = HeapRequestThatMayFail(server, f"pid={program.pid}&seconds=600&force=1&rate=1KiB")
            self.attached(request, links, at_least=4)  # links in jemalloc and in libc
            ids = server.bpf_ids()
            server.process.kill()
            server.process.wait()
            self.assertEqual(daemon.bpf_left(ids, seconds=20), {})
            program.assert_well(self)

    def test_a_daemon_that_stops(self):
        with daemon.Daemon() as server, HeapWorkload("sites") as workload:
            links = links_of(server)
            request = HeapRequestThatMayFail(server, f"pid={workload.pid}&seconds=600&force=1")
            self.attached(request, links)
            code, _ = server.stop()
            self.assertEqual(code, 0)
            request.join()
            self.assertIn(request.answer and request.answer.status, (None, 503))
            self.assertIsNone(workload.process.poll())


class HeapRequestThatMayFail(HeapRequest):
    """A request whose daemon ends."""

    def run(self):
        try:
            super().run()
        except OSError:
            pass


class HeapCpp(Workload):
    """heap_cpp with an allocator preloaded; it throws exceptions until SIGTERM."""

    def __init__(self, preload):
        super().__init__("heap_cpp", env={**os.environ, "LD_PRELOAD": preload} if preload else None)

    def assert_well(self, test):
        """Asserts that the program still works. It would have ended with a line of text at the first error."""
        before = self.cpu_seconds()
        test.assertTrue(until(lambda: self.cpu_seconds() > before + 0.1), "it does nothing")
        test.assertIsNone(self.process.poll())
        self.process.send_signal(signal.SIGTERM)
        test.assertEqual(self.process.wait(10), -signal.SIGTERM)
