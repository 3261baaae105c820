# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Disk I/O: bytes, requests and their time, by the stack that asked for them."""

import os
import subprocess
import sys
import time
import unittest

from daemon import BUILD, Daemon
from warm_up import warm_up
from workload import Workload

BESIDE = True

MIB = 1 << 20
BYTES = {"direct_writes": 16 * MIB, "direct_reads": MIB, "syncs": 8 * MIB}
OPERATIONS = {"direct_writes": "write", "direct_reads": "read", "syncs": "write"}


class DiskIO(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Daemon("--waits", "yes") as server:
            warm_up(server, 5)
            with Workload("disk_io", BUILD, stdin=subprocess.PIPE) as workload:
                time.sleep(3)  # the daemon knows its code then
                begun = time.time()
                workload.process.stdin.write("\n")
                workload.process.stdin.flush()
                told, cls.took = workload.output(), time.time() - begun
            time.sleep(1.1)
            span = f"from={begun - 1:.3f}&to={begun + cls.took + 1:.3f}"
            cls.everybody = server.profile(f"type=block&{span}")
            cls.own = server.profile(f"type=block&{span}&pid={workload.pid}")
            cls.metrics = server.metrics()
        assert told == "done\n", told
        if os.environ.get("FIGURES"):
            for name in BYTES:
                print(name, [cls.own.total(i, lambda s, n=name: n in s.names) for i in range(3)], file=sys.stderr)

    def test_bytes_are_those_of_the_function(self):
        self.assertEqual([value[0] for value in self.own.types], ["requests", "transferred", "latency"])
        for name, expected in BYTES.items():
            found = self.own.total(1, lambda s, n=name: n in s.names and s.labels["direction"] != "flush")
            # Beyond a thousand requests a second of root's, on a CPU, some are drawn by lot.
            self.assertAlmostEqual(found / expected, 1, delta=0.05, msg=name)
            operations = {s.labels["direction"] for s in self.own.samples if name in s.names and s.values[1]}
            self.assertEqual(operations, {OPERATIONS[name]}, name)
        reads = self.own.total(0, lambda s: "direct_reads" in s.names)
        self.assertAlmostEqual(reads, MIB / 4096, delta=0.05 * MIB / 4096)

    def test_write_back_blames_nobody(self):
        self.assertLess(self.own.total(1, lambda s: "later" in s.names), MIB)
        written = [s for s in self.everybody.samples if s.labels["comm"] == "[write-back]"]
        self.assertGreaterEqual(sum(s.values[1] for s in written), 0.95 * 8 * MIB)
        self.assertEqual({(s.labels.get("pid", 0), s.names[-1], s.labels["direction"]) for s in written}, {(0, "[write-back]", "write")})
        self.assertFalse([s for s in self.everybody.samples if "kworker" in s.labels["comm"] and s.labels["direction"] == "write"])

    def test_requests_take_time(self):
        """Each read waited for the one before."""
        reads = self.own.total(2, lambda s: "direct_reads" in s.names) / 1e9
        self.assertGreater(reads, 0)
        self.assertLess(reads, self.took)

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

    def test_none_was_lost(self):
        self.assertEqual(self.metrics["profd_ios_lost_total"], 0)
        self.assertGreater(self.metrics["profd_ios_total"], 256)


if __name__ == "__main__":
    unittest.main()
