# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Probes for GPUs are attached only where they are needed, and none is left when programs or daemons end."""

import time
import unittest

import daemon
from gpu_runs import DRIVER, GpuProgram, others_map_the_driver, probed, sums_of, until, wait_probed
from warm_up import warm_up

LANE = "gpu"
KINDS = ("gpu_memory", "gpu_tensor", "gpu_launch", "gpu_copy", "gpu_wait")


def allocated(said):
    return sum(row[1] for row in said["sites"].values())


def held(said):
    return sum(row[3] for row in said["sites"].values())


class NobodyHasIt(unittest.TestCase):
    LANE = None  # programs of other lanes have the driver

    def test_nobody_has_the_driver(self):
        self.assertTrue(until(lambda: not others_map_the_driver(), 120), "something maps libcuda.so")
        with daemon.Daemon() as server:
            self.assertEqual(dict(probed(server)), {})
            for kind in KINDS:
                with self.subTest(kind):
                    profile = server.profile(f"type={kind}&last=1m")
                    self.assertEqual(profile.samples, [])
                    why = [comment for comment in profile.comments if comment.startswith(f"{kind} is off")]
                    self.assertTrue(why, profile.comments)
            self.assertEqual(dict(probed(server)), {})


class GpuOff(unittest.TestCase):
    def test_a_daemon_that_comes_later(self):
        with GpuProgram("gpu_truth", "driver") as program:
            first = program.tell("sites")
            with daemon.Daemon() as server:
                wait_probed(server, DRIVER)
                # Memory from before the daemon's start is not known; later allocations are.
                self.assertEqual(sums_of(server, program, "gpu_memory").sum("inuse_space"), 0)
                second = program.tell("families")
                sums = sums_of(server, program, "gpu_memory")
                self.assertEqual(sums.sum("alloc_space"), allocated(second) - allocated(first))
                self.assertEqual(sums.sum("inuse_space"), held(second) - held(first))
                # Freeing memory from before the start does not affect the counts.
                program.tell("empty")
                self.assertEqual(sums_of(server, program, "gpu_memory").sum("inuse_space"), 0)

    def test_a_program_that_ends_at_once(self):
        """A file keeps its probes, so a program that runs for a tenth of a second is counted completely."""
        with daemon.Daemon() as server, GpuProgram("gpu_truth", "driver") as first:
            wait_probed(server, DRIVER)
            first.tell("sites")
            warm_up(server, 10)
            for _ in range(5):
                start = time.monotonic()
                with GpuProgram("gpu_truth", "driver") as short:
                    said = short.tell("sites")
                    self.assertEqual(short.end(), 0)
                took = time.monotonic() - start
                self.assertLess(took, 2)
                with self.subTest(seconds=took):
                    until(lambda: sums_of(server, short, "gpu_memory").sum("alloc_space") == allocated(said), 5)
                    sums = sums_of(server, short, "gpu_memory")
                    self.assertEqual(sums.sum("alloc_space"), allocated(said))
                    self.assertEqual(sums.sum("inuse_space"), 0)

    def test_one_that_nobody_saw_coming(self):
        """A program that ends before its files have probes breaks nothing."""
        with daemon.Daemon() as server:
            for _ in range(10):
                with GpuProgram("gpu_truth", "runtime") as short:
                    short.tell("sites")
                    short.process.kill()
            self.assertTrue(server.alive())
            with GpuProgram("gpu_truth", "driver") as program:
                wait_probed(server, DRIVER)
                said = program.tell("sites")
                self.assertEqual(sums_of(server, program, "gpu_memory").sum("inuse_space"), held(said))

    def test_a_daemon_that_is_killed(self):
        with GpuProgram("gpu_truth", "driver") as program:
            with daemon.Daemon() as server:
                wait_probed(server, DRIVER)
                program.tell("sites")
                ids = server.bpf_ids()
                server.process.kill()
                server.process.wait()
                self.assertEqual(daemon.bpf_left(ids, seconds=20), {})
            before = program.tell("families")
            with daemon.Daemon() as server:
                wait_probed(server, DRIVER)
                after = program.tell("sites")
                sums = sums_of(server, program, "gpu_memory")
                self.assertEqual(sums.sum("alloc_space"), allocated(after) - allocated(before))

    def test_a_daemon_that_stops(self):
        with GpuProgram("gpu_truth", "runtime") as program:
            with daemon.Daemon() as server:
                wait_probed(server, DRIVER, "libcudart.so.12")
                program.tell("sites", "families")
                ids = server.bpf_ids()
                code, _ = server.stop()
                self.assertEqual(code, 0)
                self.assertEqual(daemon.bpf_left(ids, seconds=20), {})
            program.tell("threads", "empty")
            self.assertEqual(program.end(), 0)
