# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Profiles of a process with its descendants, also of processes that have ended."""

import resource
import subprocess
import time
import unittest

import daemon
from heap_runs import until
from workload import workload_path

BESIDE = True


def used_by_children():
    """Returns the CPU seconds of this process's children that have ended and been waited for, and of their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Descent(unittest.TestCase):
    def test_of_a_shell_that_has_ended(self):
        """A shell starts a shell that starts the programs; all of them have ended when the profile is asked for."""
        profd = daemon.shared()
        inner = f"for i in 1 2 3; do {workload_path('spin60_30_10')} 0.7 >/dev/null; done; true"
        before = used_by_children()
        shell = subprocess.Popen(["sh", "-c", f"sh -c '{inner}'; true"])
        self.assertEqual(shell.wait(60), 0)
        spent = used_by_children() - before
        time.sleep(8)  # by then profd has removed them from its process table
        used = profd.profile(f"last=1m&pid={shell.pid}&children=1").total(1) / 1e9
        self.assertGreater(used, 0.8 * spent)
        self.assertGreater(profd.json("/status")["processes"]["kin"], 1)
        alone = profd.get(f"/profile?last=1m&pid={shell.pid}")
        self.assertEqual(alone.status, 200, "it has run")

    def test_of_one_whose_parent_has_ended_before(self):
        """The shell between the outer shell and the program has ended before the program works."""
        profd = daemon.shared()
        script = f"(sleep 6; exec {workload_path('spin60_30_10')} 2 >/dev/null) & true"
        outer = subprocess.Popen(["sh", "-c", f"sh -c '{script}'; sleep 11"])
        self.addCleanup(outer.wait)
        self.assertTrue(until(lambda: profd.profile(f"last=1m&pid={outer.pid}&children=1").total(1) > 2e8, seconds=120))
        outer.kill()
