# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Workloads of known truth that need the CPUs, or an account of them: the profile agrees with what they did."""

import contextlib
import math
import re
import subprocess
import time
import unittest

import daemon
from profile_pb import sigmas
from workload import Workload, times_told, wait_used, workload_path


class Truth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def test_two_busy_cpus_agree_with_proc(self):
        with Workload("spin_two") as spin:
            start, before = time.monotonic(), spin.cpu_seconds()
            profile = self.daemon.profile(f"seconds=6&pid={spin.pid}")
            used, took = spin.cpu_seconds() - before, time.monotonic() - start
        sampled, lasted = profile.total(1) / 1e9, profile.duration_ns / 1e9
        # Where other programs run as well, chance decides which ticks hit the two threads. What they did while the
        # request was on its way is not in the profile.
        chance = 4 * math.sqrt(max(1 - used / (2 * took), 0) / profile.total())
        self.assertLess(sampled / used, 1.03 + chance, f"{sampled} s of {used} s")
        missed = min(2 * (took - lasted), used / 2)
        self.assertGreater(sampled / (used - missed), 0.97 - chance, f"{sampled} s of {used} s, less {missed} s")
        for name in ("first_thread_spins", "second_thread_spins"):
            self.assertTrue(any(name in sample.names for sample in profile.samples), name)
        tids = {sample.labels["tid"] for sample in profile.samples}
        self.assertEqual(len(tids), 2)
        self.assertEqual({sample.labels["pid"] for sample in profile.samples}, {spin.pid})

    def test_threads_that_sleep_and_wake_on_busy_cpus(self):
        """Half of the threads' time is work(). Most of the rest is the kernel's path into sleep, with interrupts off."""
        with contextlib.ExitStack() as stack:
            for _ in range(daemon.CPUS):
                stack.enter_context(Workload("timed", "never", 0, stdin=subprocess.PIPE))
            timed = stack.enter_context(Workload("timed", "sleep", 200, 2 * daemon.CPUS, stdin=subprocess.PIPE))
            wait_used(timed, 1)
            before = times_told(timed)
            profile = self.daemon.profile(f"seconds=8&pid={timed.pid}")
            after = times_told(timed)
        total, work = (now - then for now, then in zip(after, before))
        found = profile.total(1, where=lambda sample: "work" in sample.names)
        share = 100 * work / total
        self.assertAlmostEqual(100 * found / profile.total(1), share, delta=max(8, sigmas(share, profile.total())))

    def test_short_lived_processes_have_names(self):
        start = time.time()
        for _ in range(100):
            subprocess.run([workload_path("short50ms")], stdout=subprocess.DEVNULL, check=True)
        time.sleep(1)
        profile = self.daemon.profile(f"from={start:.3f}&comm=short50ms")
        total = profile.total()
        # 100 times 50 ms at 99 Hz is 495.
        self.assertGreater(total, 350)
        named = profile.total(where=lambda sample: "short_lived_work" in sample.names)
        self.assertGreaterEqual(named / total, 0.95, f"{named} of {total}")
        self.assertGreater(len({sample.labels["pid"] for sample in profile.samples}), 75)


class Accounts(unittest.TestCase):
    """ticks = samples + idle + lost, in /metrics and in every profile."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def assert_add_up(self, metrics):
        ticks = metrics["profd_ticks_total"]
        parts = [metrics[f"profd_{name}_total"] for name in ("samples", "idle", "tallies_lost")]
        self.assertEqual(ticks, sum(parts))

    def test_metrics_add_up_idle_and_busy(self):
        before = self.daemon.metrics()
        self.assert_add_up(before)
        with Workload("spin_two"):
            self.daemon.profile("seconds=2")
            self.assert_add_up(self.daemon.metrics())
        after = self.daemon.metrics()
        self.assert_add_up(after)
        self.assertGreater(after["profd_samples_total"], before["profd_samples_total"])
        # Earlier tests may have caused losses in the same daemon.
        self.assertEqual(after["profd_tallies_lost_total"], before["profd_tallies_lost_total"])

    def test_profile_ticks_add_up(self):
        # Every CPU is kept busy, because a CPU that sleeps for lack of work may leave out ticks.
        with contextlib.ExitStack() as stack:
            for _ in range(daemon.CPUS):
                stack.enter_context(Workload("spin60_30_10"))
            profile = self.daemon.profile("seconds=3&idle=1")
        ticks = ticks_of(profile)
        idle = profile.total(where=lambda sample: sample.names == ["[idle]"])
        self.assertEqual(ticks["samples"], profile.total() - idle)
        self.assertEqual(ticks["idle"], idle)
        self.assertEqual(ticks["ticks"], ticks["samples"] + ticks["idle"] + ticks["lost"])

    def test_every_busy_cpu_is_sampled_at_the_rate_asked_for(self):
        # The CPUs are busy, because some virtual machines stop the timers of an idle CPU; profd counts those periods in
        # ticks_missed.
        with contextlib.ExitStack() as stack:
            for _ in range(daemon.CPUS):
                stack.enter_context(Workload("cpubound", 60))
            profile = self.daemon.profile("seconds=5&idle=1")
        expected = daemon.CPUS * daemon.HZ * profile.duration_ns / 1e9
        self.assertAlmostEqual(ticks_of(profile)["ticks"] / expected, 1.0, delta=0.03)


def ticks_of(profile):
    """Returns the comment that accounts for the ticks, as name -> number."""
    line = next(comment for comment in profile.comments if comment.startswith("ticks="))
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", line)}
