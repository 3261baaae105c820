# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What holds of every reader process of the daemon, whatever it reads."""

import contextlib
import os
import tempfile
import unittest

import daemon
import elf_file
from proc_files import assert_confined, children, is_ending
from workload import Workload, workload_path

HZ = 499


class ReaderProcess(unittest.TestCase):
    """Base of the tests of one kind of reader process; a subclass names the process and starts a program that needs it."""

    process_name = None

    def read_program(self, number):
        """Starts a program that the daemon has not seen, and waits for a profile that needs the reader process."""
        raise NotImplementedError

    def setUp(self):
        self.running = contextlib.ExitStack()
        self.addCleanup(self.running.close)
        self.server = self.running.enter_context(daemon.Daemon(hz=HZ))
        self.folder = self.running.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)

    def reader_pids(self):
        found = [pid for pid, name, _ in children(self.server.pid) if name == self.process_name and not is_ending(pid)]
        self.assertTrue(found, children(self.server.pid))
        return found

    def reader_pid(self):
        found = self.reader_pids()
        self.assertEqual(len(found), 1, children(self.server.pid))
        return found[0]

    def assert_no_zombie(self):
        self.assertEqual([child for child in children(self.server.pid) if child[2] == "Z"], [])

    def assert_all_end(self, pids):
        """The daemon ends without waiting for its reader processes, and none of them is left."""
        code, took = self.server.stop()
        self.assertEqual(code, 0)
        self.assertLess(took, 1)
        self.assertEqual([pid for pid in pids if os.path.exists(f"/proc/{pid}")], [])

    def test_it_is_nobody_and_may_do_nothing(self):
        self.read_program(1)
        for pid in self.reader_pids():
            assert_confined(self, pid)
            kinds = {os.readlink(f"/proc/{pid}/fd/{fd}").partition(":")[0] for fd in os.listdir(f"/proc/{pid}/fd")}
            self.assertEqual({kind for kind in kinds if "bpf" in kind or "perf" in kind}, set())


class NamesReader(ReaderProcess):
    """The reader process of names."""

    process_name = "profd-names"

    def victim(self, number):
        path = f"{self.folder}/victim{number}"
        elf_file.renamed(workload_path("victim"), path, "victim_spins_00", f"victim_spins_{number:02}")
        return self.running.enter_context(Workload(path))

    def assert_lines(self, profile, process, number):
        seen = [
            frame for sample in profile.samples if sample.labels["pid"] == process.pid
            for location in sample.locations for frame in profile.frames[location]
        ]
        frames = [frame for frame in seen if frame.name.startswith("victim_spins_")]
        self.assertTrue(frames, f"{process.cpu_seconds()} s of CPU time; {seen} {profile.comments}")
        for frame in frames:
            self.assertEqual(frame.name, f"victim_spins_{number:02}")
            self.assertTrue(frame.file.endswith("/victim.c") and frame.line > 0, frame)

    def named(self, process):
        return self.server.named_profile(process.pid)

    def read_program(self, number):
        process = self.victim(number)
        self.assert_lines(self.named(process), process, number)
        return process
