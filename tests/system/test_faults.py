# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Page faults: the kernel's numbers, by function."""

import os
import sys
import time
import unittest

from daemon import Daemon
from test_report import file_on_disk
from warm_up import warm_up
from workload import Workload

BESIDE = True

SECONDS = 4


def faults_of(pid):
    """Returns the numbers of minor and of major faults of a process."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[7]), int(fields[9])


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Daemon("--faults", "yes") as server, file_on_disk(1) as file:
            warm_up(server, 5)
            with Workload("page_faults", file) as workload:
                before, begun = faults_of(workload.pid), time.monotonic()
                cls.profile = server.profile(f"type=fault&seconds={SECONDS}&pid={workload.pid}")
                after, took = faults_of(workload.pid), time.monotonic() - begun
                # The numbers are of a little longer than the profile, on busy CPUs by a tenth, in which the program may not have run.
                cls.whole = [now - count for now, count in zip(after, before)]
                cls.kernel = [count * cls.profile.duration_ns / 1e9 / took for count in cls.whole]
            cls.metrics = server.metrics()
        if os.environ.get("FIGURES"):
            print(cls.kernel, {kind: cls.count(lambda s, k=kind: s.labels["fault"] == k) for kind in ("minor", "major")}, file=sys.stderr)

    @classmethod
    def count(cls, where):
        return cls.profile.total(1, where)

    def test_numbers_are_those_of_the_kernel(self):
        self.assertEqual([value[0] for value in self.profile.types], ["samples", "faults"])
        for kind, expected, whole in zip(("minor", "major"), self.kernel, self.whole):
            found = self.count(lambda s, k=kind: s.labels["fault"] == k)
            self.assertGreater(expected, 100)
            self.assertGreater(found / expected, 0.9, (kind, expected))
            self.assertLess(found / whole, 1.02, (kind, whole))

    def test_by_function(self):
        three, one = (self.count(lambda s, n=name: n in s.names and s.labels["fault"] == "minor") for name in ("touches_three", "touches_one"))
        self.assertAlmostEqual(three / (three + one), 0.75, delta=0.08)
        major = self.count(lambda s: s.labels["fault"] == "major")
        self.assertGreater(self.count(lambda s: "reads" in s.names and s.labels["fault"] == "major") / major, 0.9)

    def test_it_does_not_cost_much_room(self):
        self.assertLess(self.profile.total(0), 2 * 600 * (SECONDS + 1) * os.cpu_count())
        self.assertEqual(self.metrics["profd_fault_samples_lost_total"], 0)


class Off(unittest.TestCase):
    def test_it_says_so(self):
        with Daemon() as server:
            source = next(s for s in server.get("/status").json()["sources"] if s["name"] == "fault")
        self.assertEqual((source["on"], source["why"]), (False, "switched off by faults = no"))


if __name__ == "__main__":
    unittest.main()
