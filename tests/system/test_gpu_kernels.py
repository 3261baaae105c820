# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Durations of GPU kernels, as programs with libprofd-cuda.so report them; CUPTI and the GPU are stand-ins."""

import collections
import os
import subprocess
import tempfile
import time
import unittest

import daemon
from warm_up import warm_up
from workload import Workload

LANE = "gpu"
LIBRARY = os.path.join(daemon.BUILD, "libprofd-cuda.so")
FOLDER = os.path.join(daemon.BUILD, "tests", "cuda_helper")
KERNELS, TIME = 0, 1  # indices of the values
# name, the function that launches it, its percent of the time, its share of the launches
TRUTH = (
    ("large(float*, int)", "site_six", 60, 1 / 14),
    ("medium(float*, int)", "site_three", 30, 3 / 14),
    ("small(float*, int)", "site_one", 10, 10 / 14),
)
SECONDS = 10


class Kernels(Workload):
    """tests/cuda_helper/kernels, which runs until its input ends."""

    def __init__(self, *arguments, cupti="libcupti.so.12", injected=LIBRARY, **environment):
        with_library = {"CUDA_INJECTION64_PATH": injected} if injected else {}
        self.errors = tempfile.TemporaryFile("w+")
        super().__init__(
            os.path.join(FOLDER, "kernels"), os.path.join(FOLDER, cupti), *arguments,
            env={**os.environ, **with_library, **environment}, stdin=subprocess.PIPE, stderr=self.errors,
        )

    def truth(self):
        """Ends the program; returns (seconds it ran, launches, seconds of GPU time)."""
        self.process.stdin.close()
        seconds, launches, gpu_ns = self.output().split()
        return float(seconds), int(launches), int(gpu_ns) / 1e9

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def __exit__(self, *unused):
        super().__exit__(*unused)
        self.process.stdin.close()
        self.errors.close()


class GpuKernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        # By the time the tests start their programs, profd knows the files and has their unwind tables.
        with Kernels() as first:
            cls.until_told(first)
            warm_up(cls.daemon)

    @classmethod
    def profile(cls, workload, query):
        return cls.daemon.profile(f"{query}&pid={workload.pid}&type=gpu_kernel")

    @classmethod
    def until_told(cls, workload, patience=60):
        end = time.monotonic() + patience
        while not cls.profile(workload, "last=10s").total(KERNELS):
            assert time.monotonic() < end, "nothing is told"
            time.sleep(0.5)

    def assert_true(self, workload):
        self.until_told(workload)
        warm_up(self.daemon)
        profile = self.profile(workload, f"seconds={SECONDS}")
        seconds, launches, gpu = workload.truth()
        self.assertEqual(profile.types, [("kernels", "count"), ("gpu_time", "nanoseconds")])
        # At both ends of the window, kernels are counted at another time than their launches.
        self.assertAlmostEqual(profile.total(KERNELS) / SECONDS / (launches / seconds), 1, delta=0.2)
        self.assertAlmostEqual(profile.total(TIME) / 1e9 / SECONDS / (gpu / seconds), 1, delta=0.25)
        for name, site, share, of_launches in TRUTH:
            mine = [sample for sample in profile.samples if sample.names[0] == name]
            time_share = sum(sample.values[TIME] for sample in mine) / profile.total(TIME)
            count_share = sum(sample.values[KERNELS] for sample in mine) / profile.total(KERNELS)
            self.assertAlmostEqual(100 * time_share, share, delta=12, msg=name)
            self.assertAlmostEqual(100 * count_share, 100 * of_launches, delta=8, msg=name)
            self.assertEqual({sample.labels["kernel"] for sample in mine}, {name})
            self.assertEqual({sample.labels["device"] for sample in mine}, {"0"})
        return profile

    def test_shares_of_gpu_time_by_name_and_stack(self):
        with Kernels() as workload:
            profile = self.assert_true(workload)
            self.assertEqual(workload.said(), "")
        for name, site, _, _ in TRUTH:
            stacks = collections.Counter()
            for sample in profile.samples:
                if sample.names[0] == name:
                    stacks[tuple(sample.names)] += sample.values[TIME]
            whole = sum(count for stack, count in stacks.items()
                        if "main" in stack and site in stack and "cuda_launch_kernel" in stack)
            self.assertGreater(whole / sum(stacks.values()), 0.98, stacks)
            # The stacks do not show the functions that report to profd.
            self.assertFalse([stack for stack in stacks if "tell_launched" in stack or "launches_called" in stack])

    def test_what_was_told_is_counted(self):
        names = [f"told_{name}" for name in
                 ("launches", "launches_lost", "launches_unused", "kernels", "kernels_unplaced", "kernels_lost")]

        def counted():
            metrics, status = self.daemon.metrics(), self.daemon.json("/status")["gpu"]
            return {name: (metrics[f"profd_gpu_{name}_total"], status[name]) for name in names}
        before = counted()
        with Kernels() as workload:
            self.until_told(workload)
        after = counted()
        for name in ("told_launches", "told_kernels"):
            for value, was in zip(after[name], before[name]):
                self.assertGreater(value, was, name)
        for name in ("told_launches_lost", "told_kernels_lost"):
            self.assertEqual(after[name], before[name])

    def test_cupti_since_13(self):
        with Kernels(cupti="libcupti.so.13") as workload:
            self.assert_true(workload)

    def test_another_profiler_has_cupti(self):
        with Kernels(FAKE_CUPTI_HELD="1") as workload:
            time.sleep(3)
            self.assertIsNone(workload.process.poll())
            self.assertEqual(self.profile(workload, "last=10s").total(KERNELS), 0)
            _, launches, _ = workload.truth()
            self.assertGreater(launches, 0)
            self.assertEqual(
                workload.said(), "libprofd-cuda: kernel durations are not recorded: another profiler uses CUPTI\n")

    def test_time_is_up(self):
        with Kernels(PROFD_CUDA_SECONDS="1") as workload:
            self.until_told(workload)
            time.sleep(5)
            self.assertEqual(self.profile(workload, "seconds=2").total(KERNELS), 0)

    def test_without_the_library(self):
        with Kernels(injected=None) as workload:
            time.sleep(2)
            self.assertEqual(self.profile(workload, "last=10s").total(KERNELS), 0)


if __name__ == "__main__":
    unittest.main()
