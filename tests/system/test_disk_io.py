# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Disk I/O: bytes, requests and their time, by the stack that asked for them."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import BUILD, Daemon
from warm_up import warm_up
from workload import Workload

BESIDE = True

USER = 64123  # an account of its own: where root has many requests, some are drawn by lot
MIB = 1 << 20
BYTES = {"direct_writes": 16 * MIB, "direct_reads": MIB, "syncs": 8 * MIB}
OPERATIONS = {"direct_writes": "write", "direct_reads": "read", "syncs": "write"}


class DiskIO(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Daemon("--waits", "yes") as server:
            warm_up(server, 5)
            with tempfile.TemporaryDirectory(dir=BUILD) as folder:
                os.chown(folder, USER, USER)
                with Workload("disk_io", folder, stdin=subprocess.PIPE, uid=USER) as workload:
                    time.sleep(3)  # the daemon knows its code then
                    begun = time.time()
                    workload.process.stdin.write("\n")
                    workload.process.stdin.flush()
                    cls.reads_took, ended = float(workload.output()), time.time()
            time.sleep(1.1)
            span = f"from={begun - 1:.3f}&to={ended + 1:.3f}"
            cls.everybody = server.profile(f"type=block&{span}")
            cls.own = server.profile(f"type=block&{span}&pid={workload.pid}")
            cls.metrics = server.metrics()
            cls.lost = cls.metrics["profd_ios_lost_total"]
        if os.environ.get("FIGURES"):
            for name in BYTES:
                print(name, [cls.own.total(i, lambda s, n=name: n in s.names) for i in range(3)], cls.reads_took, file=sys.stderr)

    def none_is_drawn(self):
        """Whether root had so few requests that all are samples."""
        return self.everybody.total(0) - self.own.total(0) < 100 * self.everybody.duration_ns / 1e9

    def test_bytes_are_those_of_the_function(self):
        self.assertEqual([value[0] for value in self.own.types], ["requests", "transferred", "latency"])
        for name, expected in BYTES.items():
            found = self.own.total(1, lambda s, n=name: n in s.names and s.labels["direction"] == OPERATIONS[n])
            # The file system's own data may be with it. A sync of another program may have taken a part of what syncs() wrote
            # to the disk before.
            self.assertLess(found / expected, 1.05, name)
            self.assertGreater(found / expected, 0.1 if name == "syncs" else 0.8 if self.lost else 0.99, name)
            # Nor does it go the other way, but for what says where on the disk there is room.
            everything = self.own.total(1, lambda s, n=name: n in s.names)
            self.assertLess((everything - found) / expected, 0.05, name)
        reads = self.own.total(0, lambda s: "direct_reads" in s.names)
        self.assertLessEqual(reads, MIB / 4096)
        self.assertGreaterEqual(reads + self.lost, MIB / 4096)

    def test_write_back_blames_nobody(self):
        self.assertLess(self.own.total(1, lambda s: "later" in s.names), MIB)
        written = [s for s in self.everybody.samples if s.labels["comm"] == "[write-back]"]
        self.assertGreaterEqual(sum(s.values[1] for s in written), 8 * MIB if self.none_is_drawn() else 1)
        self.assertEqual({(s.labels.get("pid", 0), s.names[-1], s.labels["direction"]) for s in written}, {(0, "[write-back]", "write")})
        self.assertFalse([s for s in self.everybody.samples if "kworker" in s.labels["comm"] and s.labels["direction"] == "write"])

    def test_requests_take_time(self):
        """Each read waited for the one before, mostly for the disk."""
        reads = self.own.total(2, lambda s: "direct_reads" in s.names) / 1e9
        self.assertLess(reads, 1.2 * self.reads_took)
        self.assertGreater(reads, 0.3 * self.reads_took)

    def test_flushes_transfer_nothing(self):
        flushes = [s for s in self.everybody.samples if s.labels["direction"] == "flush"]
        self.assertEqual(sum(s.values[1] for s in flushes), 0)
        # A disk with a cache that may be lost gets one by fsync(), from the program or from the journal of the file system.
        caches = []
        for device in {s.labels["device"] for s in self.own.samples}:
            path = os.path.realpath(f"/sys/class/block/{device}")
            for folder in (path, os.path.dirname(path)):
                with contextlib.suppress(FileNotFoundError), open(f"{folder}/queue/write_cache", encoding="ascii") as file:
                    caches.append(file.read().strip())
        if "write back" in caches and self.none_is_drawn():
            self.assertTrue(flushes, caches)

    def test_which_disk(self):
        device = os.stat(BUILD).st_dev
        link = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
        name = os.path.basename(os.readlink(link)) if os.path.islink(link) else None
        devices = {s.labels["device"] for s in self.own.samples}
        self.assertTrue(devices)
        if name:
            self.assertIn(name, devices)
        for device in devices:
            self.assertTrue(os.path.exists(f"/sys/class/block/{device}"), device)

    def test_few_were_lost(self):
        """A completion is not seen where the kernel runs no BPF program on behalf of the thread that it interrupts, as some
        hypervisors' guests do for their agent."""
        self.assertGreater(self.metrics["profd_ios_total"], 256)
        self.assertLess(self.lost / self.metrics["profd_ios_total"], 0.01)


if __name__ == "__main__":
    unittest.main()
