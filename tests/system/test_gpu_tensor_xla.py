# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Chunks of XLA's allocators, as JAX uses them: by stack and device, profd counts what the program reports, to the byte."""

import unittest

from gpu_runs import DRIVER, HELD, GpuProgram, Sums, changes, gpu_of, sums_of, until, watching
from profile_pb import Profile
from warm_up import warm_up

LANE = "gpu"
FILES = (DRIVER, "libcudart.so.12", "xla_cuda_plugin.so")
STAGES = ("train", "churn", "again", "tries", "train", "empty")
REGION = 32 << 20
CALLS = {
    "weights": "tsl::BFCAllocator::AllocateRaw",
    "staging": "tsl::BFCAllocator::AllocateRaw",
    "pooled": "stream_executor::GpuCudaMallocAsyncAllocator::AllocateRaw",
}


class Chunks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        watched = watching("gpu_chunks", files=FILES, first=["train"])
        cls.server = watched.__enter__()
        cls.addClassCleanup(watched.__exit__, None, None, None)
        # Stacks are truncated while unwind tables are built. Regions stay for as long as the program runs, so another program
        # has the tables built that the first regions need; and the program does everything once before the test counts.
        with GpuProgram("gpu_chunks") as first:
            first.tell("train", "churn", "again")
            warm_up(cls.server, 15)
        cls.program = GpuProgram("gpu_chunks")
        cls.addClassCleanup(cls.program.__exit__)
        cls.program.tell("train", "churn", "again")
        warm_up(cls.server, 15)
        cls.start = cls.program.tell("empty")
        cls.before = sums_of(cls.server, cls.program, "gpu_tensor")
        cls.cuts = []
        for stage in STAGES:
            said = cls.program.tell(stage)
            cls.cuts.append((stage, said, sums_of(cls.server, cls.program, "gpu_tensor")))

    def test_in_use_is_exact_by_stack_and_device(self):
        for stage, said, sums in self.cuts:
            for key, row in said["sites"].items():
                site, device = key.split()
                with self.subTest(stage=stage, site=key):
                    found = [sums.sum(value, site, device=device, memory="tensor") for value in HELD[2:]]
                    self.assertEqual(found, row[2:])

    def test_in_use_of_all_is_exact(self):
        for stage, said, sums in self.cuts:
            with self.subTest(stage):
                for index, value in ((2, "inuse_objects"), (3, "inuse_space")):
                    self.assertEqual(sums.sum(value), sum(row[index] for row in said["sites"].values()))

    def test_allocated_is_exact(self):
        """Each allocation counts once, although one of the allocating functions calls the other."""
        for stage, said, sums in self.cuts:
            for key, row in changes(self.start["sites"], said["sites"]).items():
                site, device = key.split()
                with self.subTest(stage=stage, site=key):
                    found = [sums.sum(value, site, device=device) - self.before.sum(value, site, device=device)
                             for value in HELD[:2]]
                    self.assertEqual(found, row[:2])

    def test_churn_is_counted(self):
        """profd does not take every stack of a storm, but counts every chunk."""
        (_, before, first), (_, after, second) = self.cuts[:2]
        grown = changes(before["sites"], after["sites"])
        truth = after["churned"] + sum(row[0] for row in grown.values())
        self.assertEqual(second.sum("alloc_objects") - first.sum("alloc_objects"), truth)

    def test_the_calls_have_names(self):
        _, _, sums = self.cuts[0]
        for site, call in CALLS.items():
            with self.subTest(site):
                self.assertGreater(sums.sum("inuse_space", site), 0)
                self.assertEqual(sums.sum("inuse_space", site, call=call), sums.sum("inuse_space", site))

    def test_stacks_go_to_main(self):
        _, said, sums = self.cuts[0]
        whole = sums.profile.total(HELD.index("inuse_space"), lambda s: "main" in s.names)
        self.assertEqual(whole, sum(row[3] for row in said["sites"].values()))

    def test_regions_are_the_drivers(self):
        """The memory that an allocator itself takes counts as the driver's, and its stack is whole although profd awaits the
        return of a function in it."""
        regions, in_use = sums_of(self.server, self.program, "gpu_memory"), HELD.index("inuse_space")

        def whole(sample):
            return "main" in sample.names and any("BFCAllocator::Extend" in name for name in sample.names)
        for memory, count in (("device", 3), ("pinned", 1)):
            with self.subTest(memory):
                found = regions.profile.total(in_use, lambda s, memory=memory: s.labels["memory"] == memory and whole(s))
                self.assertEqual(found, count * REGION)
                self.assertEqual(regions.sum("inuse_space", memory=memory), count * REGION)

    def test_tries_are_failures_and_nothing_is_kept_of_them(self):
        said = self.program.said
        rows = gpu_of(self.server, self.program.pid)
        self.assertEqual(sum(row["failures"] for row in rows.values()), said["failures"])
        self.assertEqual([row for row in self.server.json("/oom") if row["pid"] == self.program.pid], [])

    def test_totals_of_devices(self):
        rows = gpu_of(self.server, self.program.pid)
        self.assertTrue(all(row["tensors_allocated_bytes"] == 0 for row in rows.values()), rows)


class OutOfMemory(unittest.TestCase):
    def test_what_was_held_is_kept(self):
        with watching("gpu_chunks", files=FILES, first=["train"]) as server, GpuProgram("gpu_chunks") as program:
            program.tell("train")
            warm_up(server, 15)
            said = program.tell("empty", "train", "oom")
            rows = gpu_of(server, program.pid)
            for device in ("0", "1"):
                truth = sum(row[3] for key, row in said["sites"].items() if key.endswith(f"cuda:{device}"))
                self.assertEqual(rows[device]["tensors_allocated_bytes"], truth, rows)

            def kept():
                return [row for row in server.json("/oom") if row["pid"] == program.pid]
            self.assertTrue(until(kept), server.json("/oom"))
            sums = Sums(Profile(server.get(f"/oom?id={kept()[0]['id']}").body))
            for key, counts in said["sites"].items():
                site, device = key.split()
                with self.subTest(key):
                    self.assertEqual(sums.sum("inuse_space", site, device=device), counts[3])
            self.assertGreater(sums.sum("alloc_space", "wants_too_much"), 1 << 39)
