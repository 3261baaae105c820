# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The process that makes unwind tables: what it may do, and what its end costs."""

import contextlib
import os
import signal
import tempfile
import time
import unittest

import daemon
import elf_file
from proc_files import assert_confined, children
from workload import Workload, wait_used, workload_path

HZ = 499
PROCESS_NAME = "profd-tables"
PATIENCE = 180  # against hanging, not against a slow machine
LEVELS = [f"level{number:02}" for number in range(12, 0, -1)]  # of stacks_chain, from the leaf


class TablesProcess(unittest.TestCase):
    def setUp(self):
        self.running = contextlib.ExitStack()
        self.addCleanup(self.running.close)
        self.server = self.running.enter_context(daemon.Daemon(hz=HZ))
        self.folder = self.running.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)

    def program(self, number):
        """One that the daemon has not seen, whose stacks cannot be walked without its table."""
        path = f"{self.folder}/chain{number}"
        elf_file.renamed(workload_path("stacks_chain-static"), path, LEVELS[0], LEVELS[0])
        return self.running.enter_context(Workload(path))

    def tables_pid(self):
        found = [pid for pid, name, state in children(self.server.pid) if name == PROCESS_NAME and state != "Z"]
        self.assertEqual(len(found), 1, children(self.server.pid))
        return found[0]

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

    def test_it_is_nobody_and_may_do_nothing(self):
        self.assert_whole(self.program(1))
        pid = self.tables_pid()
        assert_confined(self, pid)
        kinds = {os.readlink(f"/proc/{pid}/fd/{fd}").partition(":")[0] for fd in os.listdir(f"/proc/{pid}/fd")}
        self.assertEqual({kind for kind in kinds if "bpf" in kind or "perf" in kind}, set())

    def test_killed_between_files(self):
        self.assert_whole(self.program(0))
        started = self.server.metrics()["profd_readers_starts_total"]
        for number in range(1, 4):
            os.kill(self.tables_pid(), signal.SIGKILL)
            self.assert_whole(self.program(number))
        metrics = self.server.metrics()
        self.assertEqual(metrics["profd_readers_files_failed_total"], 0)
        self.assertEqual(metrics["profd_readers_crashes_total"], 3)
        self.assertEqual(metrics["profd_readers_starts_total"], started + 3)
        self.assertEqual(self.server.get("/status").json()["readers"]["crashes"], 3)
        self.assertEqual([child for child in children(self.server.pid) if child[2] == "Z"], [])

    def test_killed_over_a_file(self):
        self.assert_whole(self.program(1))
        pid = self.tables_pid()
        os.kill(pid, signal.SIGSTOP)
        process = self.program(2)
        # Long enough for the daemon to have asked about it, or about one before it.
        self.server.profile("seconds=1")
        self.assertEqual(self.tables_pid(), pid)
        os.kill(pid, signal.SIGKILL)
        self.assert_whole(process)
        self.assertNotEqual(self.tables_pid(), pid)
        self.assertEqual(self.server.metrics()["profd_readers_files_failed_total"], 0)

    def test_the_daemon_ends_while_it_is_asked(self):
        self.assert_whole(self.program(1))
        pid = self.tables_pid()
        os.kill(pid, signal.SIGSTOP)
        self.program(2)
        self.server.profile("seconds=1")
        code, took = self.server.stop()
        self.assertEqual(code, 0)
        self.assertLess(took, 1)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
