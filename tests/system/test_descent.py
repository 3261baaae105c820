# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Who descends from whom, also of processes that have ended."""

import resource
import subprocess
import time
import unittest

import daemon
from heap_runs import until
from workload import workload_path

BESIDE = True


def used_by_children():
    """CPU seconds of those that have ended and been waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Descent(unittest.TestCase):
    def test_of_a_shell_that_has_ended(self):
        """A shell that starts a shell that starts what works; all of them are over when it is asked."""
        profd = daemon.shared()
        inner = f"for i in 1 2 3; do {workload_path('spin60_30_10')} 0.7 >/dev/null; done; true"
        before = used_by_children()
        shell = subprocess.Popen(["sh", "-c", f"sh -c '{inner}'; true"])
        self.assertEqual(shell.wait(60), 0)
        spent = used_by_children() - before
        time.sleep(8)  # until they are out of the table of processes
        used = profd.profile(f"last=1m&pid={shell.pid}&children=1").total(1) / 1e9
        self.assertGreater(used, 0.8 * spent)
        self.assertGreater(profd.json("/status")["processes"]["kin"], 1)
        alone = profd.get(f"/profile?last=1m&pid={shell.pid}")
        self.assertEqual(alone.status, 200, "it has run")

    def test_of_one_whose_parent_has_ended_before(self):
        """The shell between them is gone before the program works."""
        profd = daemon.shared()
        script = f"(sleep 6; exec {workload_path('spin60_30_10')} 2 >/dev/null) & true"
        outer = subprocess.Popen(["sh", "-c", f"sh -c '{script}'; sleep 11"])
        self.addCleanup(outer.wait)
        self.assertTrue(until(lambda: profd.profile(f"last=1m&pid={outer.pid}&children=1").total(1) > 1e9))
        outer.kill()
