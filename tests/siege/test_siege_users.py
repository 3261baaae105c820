# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The attacks of test_hostile_users.py that take whole CPUs."""

import os
import time
import unittest

from daemon import BUILD, Daemon
from heap_runs import until
from hostile_runs import NOBODY
from proc_files import fields
from pythons import system_python
from test_hostile_users import Sieges, needs_fuse
from workload import Workload, cpu_seconds

NAMED = "def inner():\n while True: pass\ndef outer():\n inner()\nprint('ready', flush=True)\nouter()\n"


class HostileUsers(Sieges):
    @needs_fuse
    def test_a_file_server_that_hangs_later(self):
        """Root owns the files, so profd reads them. They hang when profd opens them again, to attach probes."""
        attacks = [("hung_fs", self.folder, 0, "open", "again", os.path.join(BUILD, path))
                   for path in ("libprofd-heap.so", "workloads/cuda/libcuda.so.1")]
        self.assert_held(self.besiege_by(attacks, uid=0), 64)

    def test_mapping_churn(self):
        self.assert_held(self.besiege("mapping_churn", 60000, seconds=8), 64)

    def test_many_files(self):
        """The daemon has as few descriptors as a shell has by default on some hosts."""
        siege = self.besiege("many_files", self.folder, 5000, through=["prlimit", "--nofile=4096"])
        self.assert_held(siege, 64)

    def test_the_table_of_descriptors_is_as_large_as_it_gets(self):
        """While the kernel makes it larger, whoever opens a file waits."""
        server = self.stack.enter_context(Daemon(through=["prlimit", "--nofile=4096"], first=True))
        self.assertEqual(int(fields(server.pid, "status")["FDSize"]), 4096)

    def test_many_mappings(self):
        self.assert_held(self.besiege("many_mappings", self.folder, 30000), 64)

    def test_forks_of_many_mappings(self):
        self.assert_held(self.besiege("many_mappings", self.folder, 2000, 93), 128)

    def test_mappings_of_what_is_no_program(self):
        self.assert_held(self.besiege("text_mappings", self.folder, 60000, 4, seconds=10), 128)

    def test_tellers(self):
        self.assert_held(self.besiege("tellers", 250, seconds=20), 192)

    def test_told_code(self):
        self.assert_held(self.besiege("told_code", self.folder, seconds=20), 128)

    def test_told_kernels(self):
        """Reading such reports takes a part of the loop's time, and the kernels of a slice a part of the memory."""
        share = []

        def measure(server):
            self.assertTrue(until(lambda: server.metrics()["profd_gpu_told_kernels_total"], 60))
            begin, used = time.monotonic(), cpu_seconds(server.pid)
            time.sleep(10)
            share.append((cpu_seconds(server.pid) - used) / (time.monotonic() - begin))

        driver = os.path.join(BUILD, "workloads", "cuda", "libcuda.so.1")
        siege = self.besiege("told_kernels", driver, meanwhile=measure)
        self.assert_held(siege, 64)
        self.assertLess(share[0], 0.5)

    def test_forged_python(self):
        """Other users' Python programs have their names meanwhile."""
        named = []

        def name(server):
            with Workload(system_python().path, "-c", NAMED, uid=NOBODY) as workload:
                server.profile(f"seconds=2&pid={workload.pid}")
                profile = server.profile(f"seconds=4&pid={workload.pid}")
            named.append(profile.total(0, lambda s: {"outer", "inner"} <= set(s.names)) / profile.total(0))

        self.assert_held(self.besiege("forged_python.py", 400, 400, meanwhile=name), 128)
        self.assertGreater(named[0], 0.98)

    def test_stopped_readers(self):
        self.assert_held(self.besiege("stop_readers", uid=NOBODY), 64)


if __name__ == "__main__":
    unittest.main()
