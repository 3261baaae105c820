# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The process that makes unwind tables: what it may do, and what its end costs."""

import os
import signal
import time

import elf_file
import reader_process
from heap_runs import until
from proc_files import children
from workload import Workload, wait_used, workload_path

BESIDE = True
PATIENCE = 180  # against hanging, not against a slow machine
LEVELS = [f"level{number:02}" for number in range(12, 0, -1)]  # of stacks_chain, from the leaf


class TablesProcess(reader_process.ReaderProcess):
    process_name = "profd-tables"

    def program(self, number):
        """One that the daemon has not seen, whose stacks cannot be walked without its table."""
        path = f"{self.folder}/chain{number}"
        elf_file.renamed(workload_path("stacks_chain-static"), path, LEVELS[0], LEVELS[0])
        return self.running.enter_context(Workload(path))

    def assert_whole(self, process):
        """There is none without a table, which is made after those of all that was there at the start."""
        end = time.monotonic() + PATIENCE
        while True:
            wait_used(process, 0.1)
            profile = self.server.profile(f"last=120s&pid={process.pid}")
            for sample in profile.samples:
                if [name for name in sample.names if name in LEVELS] == LEVELS and "main" in sample.names:
                    return
            self.assertLess(time.monotonic(), end, [sample.names for sample in profile.samples])

    def read_program(self, number):
        self.assert_whole(self.program(number))

    def kill_all(self, how):
        """One for two CPUs; those that have had nothing to do have not been started."""
        pids = self.reader_pids()
        for pid in pids:
            os.kill(pid, how)
        return pids

    def test_killed_between_files(self):
        self.read_program(0)
        started = self.server.metrics()["profd_readers_starts_total"]
        killed = []
        for number in range(1, 4):
            killed += self.kill_all(signal.SIGKILL)
            self.read_program(number)
        metrics = self.server.metrics()
        disturbed = metrics["profd_readers_disturbed_total"]
        self.assertEqual(metrics["profd_readers_files_failed_total"], 0)
        # The end of one that is not asked again is noticed when it would have been ended.
        self.assertTrue(3 <= disturbed <= len(killed), (disturbed, killed))
        self.assertGreaterEqual(metrics["profd_readers_starts_total"], started + disturbed)
        self.assertEqual(self.server.get("/status").json()["readers"]["disturbed"], disturbed)
        self.assertFalse(set(killed) & set(self.reader_pids()))
        until(lambda: all(state != "Z" for _, _, state in children(self.server.pid)))
        self.assert_no_zombie()

    def test_killed_over_a_file(self):
        self.read_program(1)
        pids = self.kill_all(signal.SIGSTOP)
        process = self.program(2)
        # Long enough for the daemon to have asked about it, or about one before it, and not to give the process up.
        time.sleep(0.5)
        self.kill_all(signal.SIGKILL)
        self.assert_whole(process)
        self.assertFalse(set(pids) & set(self.reader_pids()))
        self.assertEqual(self.server.metrics()["profd_readers_files_failed_total"], 0)

    def test_the_daemon_ends_while_it_is_asked(self):
        self.read_program(1)
        pids = self.kill_all(signal.SIGSTOP)
        self.program(2)
        self.server.profile("seconds=1")
        self.assert_all_end(pids)
