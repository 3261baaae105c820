# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The reader process that finds a process's allocator: what it may do, and the effect of files on which it fails."""

import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import unittest

import daemon
from heap_runs import HeapRequest, until
from proc_files import assert_confined, children
from workload import Workload, cpu_seconds, workload_path

LANE = "heap"
NAME = "profd-malloc"
ENDLESS_BYTES = 12_345_678
WITH_ENDLESS = ("env", f"LD_PRELOAD={daemon.BUILD}/tests/system/endless.so", "ENDLESS_READER=malloc",
                f"ENDLESS_BYTES={ENDLESS_BYTES}")
# Maps files executable and keeps allocating.
MAPS = """
import mmap, sys, time
areas = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        areas.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
print("ready", flush=True)
while True:
    held = [bytes(5000) for _ in range(20)]
    time.sleep(0.01)
"""


def endless(path):
    """Makes a file that the reader process never finishes: see endless.c."""
    shutil.copy(workload_path("victim"), path)
    os.truncate(path, ENDLESS_BYTES)
    os.chmod(path, 0o644)
    return path


def damaged(source, path, rng):
    """Makes a copy of a library with some bytes changed: in headers, symbols, names, frames, and code."""
    with open(source, "rb") as file:
        data = bytearray(file.read())
    for _ in range(rng.choice((1, 10, 1000))):
        at = rng.choice((rng.randrange(64, 1024), rng.randrange(len(data) // 8), rng.randrange(len(data)),
                         len(data) - 1 - rng.randrange(64 * 40)))
        data[at] = rng.choice((0, 0xff, rng.randrange(256)))
    with open(path, "wb") as file:
        file.write(data)
    return path


def is_deep_in(pid):
    """Whether the process has worked so long that it must be in a file that never ends."""
    with contextlib.suppress(OSError):
        return cpu_seconds(pid) > 0.2
    return False


class HeapProcess(unittest.TestCase):
    def setUp(self):
        self.running = contextlib.ExitStack()
        self.addCleanup(self.running.close)
        self.folder = self.running.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)

    def start(self, *paths):
        self.program = self.running.enter_context(Workload(sys.executable, "-c", MAPS, *paths))
        self.server = self.running.enter_context(daemon.Daemon(through=WITH_ENDLESS))

    def readers(self):
        return [pid for pid, name, state in children(self.server.pid) if name == NAME and state != "Z"]

    def busy_reader(self):
        found = until(lambda: [pid for pid in self.readers() if is_deep_in(pid)])
        self.assertEqual(len(found), 1)
        return found[0]

    def request(self):
        return HeapRequest(self.server, f"pid={self.program.pid}&seconds=1&rate=1&force=1")

    def test_one_that_takes_too_long(self):
        path = endless(f"{self.folder}/endless")
        self.start(path)
        request = self.request()
        pid = self.busy_reader()
        assert_confined(self, pid)
        kinds = {os.readlink(f"/proc/{pid}/fd/{fd}").partition(":")[0] for fd in os.listdir(f"/proc/{pid}/fd")}
        self.assertEqual({kind for kind in kinds if "bpf" in kind or "perf" in kind or "uprobe" in kind}, set())
        heap = request.heap()
        self.assertEqual(heap.comment("allocator=").split()[0], "glibc")
        self.assertEqual(heap.comment("incomplete: "), "1 of the process's files could not be searched for an "
                                                       f"allocator, such as {path}")
        self.assertGreater(heap.sampled, 0)
        self.assertEqual(until(lambda: not self.readers()), True)

    def test_killed_over_a_file(self):
        """The process is killed twice over the file: the first one had read other files, and could have failed over those."""
        path = endless(f"{self.folder}/endless")
        self.start(path)
        before = self.server.metrics()
        request = self.request()
        for _ in range(2):
            os.kill(self.busy_reader(), signal.SIGSEGV)  # profd takes SIGKILL for the doing of another process
        heap = request.heap()
        self.assertIn(path, heap.comment("incomplete: 1 "))
        self.assertGreater(heap.sampled, 0)
        after = self.server.metrics()
        self.assertGreaterEqual(after["profd_readers_crashes_total"], before["profd_readers_crashes_total"] + 2)
        self.assertGreaterEqual(after["profd_readers_files_failed_total"],
                                before["profd_readers_files_failed_total"] + 1)
        self.assertGreaterEqual(after["profd_readers_starts_total"], before["profd_readers_starts_total"] + 3)

    def test_too_many(self):
        self.start(*(endless(f"{self.folder}/endless{number}") for number in range(3)))
        request = self.request()
        killed = set()
        while request.is_alive():
            for pid in set(self.readers()) - killed:
                if is_deep_in(pid):
                    killed.add(pid)
                    os.kill(pid, signal.SIGSEGV)
            time.sleep(0.05)
        # A file counts as failed after two processes; the second one was asked about nothing else.
        self.assertEqual(len(killed), 4)
        self.assertEqual(request.answer.status, 500, request.answer.text)
        self.assertIn(f"process {self.program.pid} and could not search 3 of its files, such as {self.folder}/",
                      request.answer.text)
        self.assertEqual(self.server.metrics()["profd_heap_failed_total"], 1)

    def test_hanging_up_ends_it(self):
        self.start(endless(f"{self.folder}/endless"))
        client = self.server.connect()
        client.sendall(f"GET /heap?pid={self.program.pid}&seconds=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.busy_reader()
        client.close()
        began = time.monotonic()
        self.assertTrue(until(lambda: not self.readers()))
        self.assertLess(time.monotonic() - began, 5, "it has ten seconds for a file")

    def test_the_daemon_stops(self):
        self.start(endless(f"{self.folder}/endless"))
        request = self.request()
        pid = self.busy_reader()
        code, took = self.server.stop()
        self.assertEqual(code, 0)
        self.assertLess(took, 2)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        request.join()

    def test_damaged_files(self):
        """No content of a file crashes the reader process."""
        with open("/proc/self/maps", encoding="utf-8") as maps:
            libc, = {line.split()[-1] for line in maps if "/libc.so.6" in line}
        rng = random.Random(1)
        self.start(*(damaged(libc, f"{self.folder}/libc{number}", rng) for number in range(100)))
        self.assertEqual(self.request().heap().comment("incomplete: "), None)
        self.assertEqual(self.server.metrics()["profd_readers_crashes_total"], 0)


if __name__ == "__main__":
    unittest.main()
