# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Users cannot signal the reader processes, and profd replaces a reader process that is stopped or killed."""

import os
import signal
import sys
import time
import unittest

import daemon
import reader_process
from proc_files import NOBODY, fields
from workload import Workload

BESIDE = True
QUICK = 10  # seconds; a missed deadline takes 30


def as_user(user, act):
    """Runs act() in a process of that user; returns its result as an exit status."""
    pid = os.fork()
    if not pid:
        status = 111
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            status = act()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Signals(reader_process.NamesReader):
    def test_no_user_can_signal_it(self):
        self.read_program(1)
        pid = self.reader_pid()

        def stop():
            try:
                os.kill(pid, signal.SIGSTOP)
            except PermissionError:
                return 0
            return 1

        for user in (NOBODY, 65533, 1000, 61184):
            with self.subTest(user=user):
                self.assertEqual(as_user(user, stop), 0)
        self.assertNotIn(fields(pid, "status")["State"][0], "Tt")

    def test_stopped_it_is_replaced(self):
        self.read_program(1)
        second = self.victim(2)
        before = self.server.metrics()
        os.kill(self.reader_pid(), signal.SIGSTOP)
        start = time.monotonic()
        profile = self.server.profile(f"seconds=1&pid={second.pid}")
        self.assertLess(time.monotonic() - start, QUICK)
        self.assert_lines(profile, second, 2)
        after = self.server.metrics()
        self.assertEqual(after["profd_names_disturbed_total"] - before["profd_names_disturbed_total"], 1)
        self.assertEqual(after["profd_names_files_failed_total"], before["profd_names_files_failed_total"])

    def test_killed_it_costs_no_file_its_names(self):
        """The kernel may kill a reader process for lack of memory, again and again."""
        for number in range(1, 6):
            process = self.read_program(number)
            os.kill(self.reader_pid(), signal.SIGKILL)
            self.assert_lines(self.named(process), process, number)
        self.assertEqual(self.server.metrics()["profd_names_files_failed_total"], 0)


class Inherited(unittest.TestCase):
    def test_children_are_reaped_by_the_daemon(self):
        """With SIGCHLD ignored the kernel would reap the children, and a killed process ID could belong to another process."""
        ignoring = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
        through = (sys.executable, "-c", ignoring)
        with daemon.Daemon(hz=reader_process.HZ, through=through) as server, Workload("victim"):
            ignored = int(fields(server.pid, "status")["SigIgn"], 16)
            self.assertFalse(ignored & 1 << signal.SIGCHLD - 1)
            self.assertGreater(server.profile("seconds=1").total(), 0)
