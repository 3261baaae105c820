# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which waits are sampled: those that began before the daemon, and those of one program while another has storms of them."""

import os
import time
import unittest

from daemon import Daemon
from hostile_runs import Attack
from warm_up import warm_up
from workload import Workload

BESIDE = True

LOST, UNSEEN = "[unknown: stack lost]", "[unknown: not sampled]"


class NotSampled(unittest.TestCase):
    def test_a_thread_that_slept_already(self):
        """What waits when the daemon starts has its kernel stack, and the place in user space that has called the kernel."""
        with Workload("waits") as workload:
            time.sleep(0.5)
            with Daemon("--waits", "yes") as server:
                warm_up(server, 5)
                profile = server.profile(f"type=offcpu&seconds=2&pid={workload.pid}")
        blocked = [s for s in profile.samples if s.labels.get("thread") == "blocked"]
        self.assertEqual({(s.labels["state"], s.labels["wait"]) for s in blocked}, {("sleep", "futex")})
        for sample in blocked:
            self.assertIn("[unknown: wait not sampled when it began]", sample.names)
            self.assertTrue(any("futex" in name for name in sample.names), sample.names)
        self.assertAlmostEqual(sum(s.values[1] for s in blocked) / profile.duration_ns, 1, delta=0.1)


class Hostile(unittest.TestCase):
    def test_new_stacks_of_one_leave_those_of_others(self):
        """Each wait of the attack has a new stack; others' threads go on waiting, and begin to."""
        with Daemon("--waits", "yes") as server, Workload("waits") as before, \
                Attack("deep_stacks", 250, 2 * os.cpu_count(), 1), Workload("waits") as after:
            warm_up(server, 5)
            time.sleep(5)
            profile = server.profile(f"type=offcpu&seconds=5&pid={before.pid}&pid={after.pid}")
            metrics = server.metrics()
        for process in (before, after):
            sums = {name: profile.total(1, lambda s, n=name: s.labels["pid"] == process.pid and n in s.names) / 1e9
                    for name in ("waits", LOST, UNSEEN)}
            waited = profile.total(1, lambda s: s.labels["pid"] == process.pid) / profile.duration_ns
            # Three threads, of which one computes a little.
            self.assertGreater(waited, 2.5, sums)
            self.assertLess(waited, 3.3, sums)
            # Mostly it is less than 0.03. One second of a thread, whose wait was not drawn while other programs have storms, is 0.07.
            self.assertLess(sums[LOST] + sums[UNSEEN], 0.2 * waited * profile.duration_ns / 1e9, sums)
        self.assertEqual(metrics["profd_waits_lost_total"], 0)


if __name__ == "__main__":
    unittest.main()
