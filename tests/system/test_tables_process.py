# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The reader process of unwind tables: what it may do, and the effects of its end."""

import os
import signal
import time

import elf_file
import reader_process
from heap_runs import until
from proc_files import children
from workload import Workload, wait_used, workload_path

BESIDE = True
PATIENCE = 180  # bounds a hang, not a slow machine
LEVELS = [f"level{number:02}" for number in range(12, 0, -1)]  # of stacks_chain, from the leaf


class TablesProcess(reader_process.ReaderProcess):
    process_name = "profd-tables"

    def program(self, number):
        """Starts a program that the daemon has not seen, whose stacks cannot be walked without its unwind table."""
        path = f"{self.folder}/chain{number}"
        elf_file.renamed(workload_path("stacks_chain-static"), path, LEVELS[0], LEVELS[0])
        return self.running.enter_context(Workload(path))

    def assert_whole(self, process):
        """Waits for a whole stack. The program's table is built after those of all programs that ran at the daemon's start."""
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
        """Kills all reader processes: there is one for two CPUs, and only those that have had work are started."""
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
        # The end of a process that gets no further work is noticed only when it would have been stopped anyway.
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
        # By then the daemon has asked about this file, or about one before it, and has not given up the process yet.
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
