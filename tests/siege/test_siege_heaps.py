# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Programs that sample their own allocations, and tell more than there is room for."""

import os
import signal
import time
import unittest

from heap_runs import Heap, until
from hostile_runs import Attack
from proc_files import NOBODY
from test_heap_standing import Telling
from workload import Workload

TELLERS, REST_MS = 60, 25  # they fill one user's share in a quarter of a minute


def sleeps_of(workload):
    """Returns how often the program has slept; "tells" sleeps after each sample."""
    with open(f"/proc/{workload.pid}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt_switches"))


class HeapFloods(Telling):
    """These programs report more than the daemon can take, and need a CPU for that."""

    def test_what_is_lost_is_counted(self):
        with Workload(self.program("flood"), "flood") as flood:
            self.wait_told(flood)
            used = flood.cpu_seconds()
            os.kill(self.daemon.pid, signal.SIGSTOP)
            told = until(lambda: flood.cpu_seconds() > used + 0.5)
            os.kill(self.daemon.pid, signal.SIGCONT)
            self.assertTrue(told)
            self.assertTrue(until(lambda: self.heaps()["heap_events_over_share"]))

    def sampled_of(self, workload):
        """Returns the number of the program's samples that arrive, after stopping the program."""
        os.kill(workload.pid, signal.SIGSTOP)
        counts = [-1, -2]
        while counts[-1] != counts[-2]:
            time.sleep(1)  # time to read everything
            counts.append(Heap(self.daemon.get(f"/heap?pid={workload.pid}").body).sampled)
        return counts[-1]

    def test_what_one_user_floods_is_lost_to_him_only(self):
        """The daemon is stopped for a while, so that the ring buffer gets as full as it can."""
        cpus = sorted(os.sched_getaffinity(0))
        with Workload(self.program("hers")) as hers, Workload(self.program("his"), "flood", user=NOBODY) as his:
            # The two programs have separate CPUs, because a sample is lost when it interrupts the recording of another one.
            os.sched_setaffinity(hers.pid, cpus[:1])
            os.sched_setaffinity(his.pid, cpus[-1:])
            self.wait_told(hers, his)
            told, slept = self.sampled_of(hers), sleeps_of(hers)
            before = self.heaps()
            os.kill(self.daemon.pid, signal.SIGSTOP)
            used = his.cpu_seconds()
            # A part of this time fills the ring buffer.
            full = until(lambda: his.cpu_seconds() > used + 0.5)
            os.kill(hers.pid, signal.SIGCONT)
            enough = until(lambda: sleeps_of(hers) > slept + 1000)
            os.kill(hers.pid, signal.SIGSTOP)
            os.kill(self.daemon.pid, signal.SIGCONT)
            self.assertTrue(full and enough)
            told, slept = self.sampled_of(hers) - told, sleeps_of(hers) - slept
            after = self.heaps()
            self.assertAlmostEqual(told, slept, delta=slept / 20)
            self.assertGreater(after["heap_events_over_share"], before["heap_events_over_share"])
            self.assertEqual(after["heap_events_lost"], before["heap_events_lost"])

    def test_what_one_user_tells_leaves_room(self):
        with Workload(self.program("told")) as mine:
            self.assertTrue(until(lambda: self.heaps()["standing"]))
            with Attack("tellers", TELLERS, REST_MS, uid=NOBODY):
                self.assertTrue(until(lambda: self.heaps()["heap_begun_anew"], 90), self.heaps())
                heaps = self.heaps()
                answer = self.daemon.get(f"/heap?pid={mine.pid}")
        self.assertLessEqual(heaps["standing_bytes"], 130 << 20, heaps)
        self.assertEqual(answer.status, 200, answer.body[:200])
        self.assertIn("itself", Heap(answer.body).comment("allocator="))


if __name__ == "__main__":
    unittest.main()
