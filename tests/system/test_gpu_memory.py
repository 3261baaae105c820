# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Memory of GPUs by stack: at any time the memory in use is what the program reports, to the byte."""

import unittest

import daemon
from gpu_runs import DRIVER, HELD, GpuProgram, changes, gpu_of, held_by_pprof, sums_of, until, wait_probed, watching
from warm_up import warm_up

LANE = "gpu"
STAGES = ("sites", "families", "failures", "oom", "peak", "threads", "sites", "empty")
STORMY = "site_churn"  # profd does not take every stack of this storm of allocations
FAMILIES = {
    "by_pitch": "device", "by_managed": "managed", "by_async": "pool", "by_host_alloc": "pinned",
    "by_alloc_host": "pinned", "by_register": "registered", "by_async_ptsz": "pool", "by_pool": "pool",
    "by_create": "physical", "by_array": "array", "by_array3d": "array", "by_mipmaps": "array",
}


class Cuts:
    """The tests of one program, with a profile taken after each of its commands (STAGES)."""

    mode = None

    @classmethod
    def setUpClass(cls):
        watched = watching("gpu_truth", cls.mode, files=cls.libraries, first=["empty"])
        cls.server = watched.__enter__()
        cls.addClassCleanup(watched.__exit__, None, None, None)
        cls.program = GpuProgram("gpu_truth", cls.mode)
        cls.addClassCleanup(cls.program.__exit__)
        # Stacks are truncated while unwind tables are built, so the program does everything once before the test counts.
        cls.program.tell("sites", "families", "peak", "threads")
        warm_up(cls.server, 15)
        cls.start = cls.program.tell("empty")
        cls.before = sums_of(cls.server, cls.program, "gpu_memory")
        cls.cuts = []
        for stage in STAGES:
            said = cls.program.tell(stage)
            cls.cuts.append((stage, said, sums_of(cls.server, cls.program, "gpu_memory")))

    def sites(self):
        """Yields (stage, "site device", truth, sums) for each profile."""
        for stage, said, sums in self.cuts:
            for key, row in said["sites"].items():
                if not key.startswith(STORMY):
                    yield stage, key, row, sums

    def test_in_use_is_exact_by_stack_and_device(self):
        for stage, key, row, sums in self.sites():
            site, device = key.split()
            with self.subTest(stage=stage, site=key):
                found = [sums.sum(value, site, device=device) for value in HELD[2:]]
                self.assertEqual(found, row[2:])

    def test_storms_are_told_of(self):
        """All memory of a storm is counted, with or without stacks."""
        _, said, sums = self.cuts[STAGES.index("threads")]
        index = HELD.index("inuse_space")
        found = sums.profile.total(index, lambda s: "main" not in s.names)
        self.assertEqual(found, sum(row[3] for key, row in said["sites"].items() if key.startswith(STORMY)))
        self.assertGreater(sums.sum("alloc_space", STORMY), 0)

    def test_in_use_of_all_is_exact(self):
        """Memory without a stack is counted as well, and once."""
        for stage, said, sums in self.cuts:
            with self.subTest(stage):
                for index, value in ((2, "inuse_objects"), (3, "inuse_space")):
                    self.assertEqual(sums.sum(value), sum(row[index] for row in said["sites"].values()))

    def test_allocated_is_exact(self):
        for stage, said, sums in self.cuts:
            grown = changes(self.start["sites"], said["sites"])
            with self.subTest(stage):
                for index, value in enumerate(HELD[:2]):
                    truth = sum(row[index] for row in grown.values())
                    self.assertEqual(sums.sum(value) - self.before.sum(value), truth, value)
            for key, row in grown.items():
                site, device = key.split()
                if site == STORMY:
                    continue
                with self.subTest(stage=stage, site=key):
                    found = [sums.sum(value, site, device=device) - self.before.sum(value, site, device=device)
                             for value in HELD[:2]]
                    self.assertEqual(found, row[:2])

    def test_shares_are_6_3_1(self):
        _, _, sums = self.cuts[0]
        total = sums.sum("inuse_space")
        for site, share in (("site_six", 0.6), ("site_three", 0.3), ("site_one", 0.1)):
            self.assertAlmostEqual(sums.sum("inuse_space", site) / total, share, delta=0.06)

    def test_memories(self):
        _, said, sums = self.cuts[1]
        for site, memory in FAMILIES.items():
            truth = sum(row[3] for key, row in said["sites"].items() if key.split()[0] == site)
            with self.subTest(site):
                self.assertEqual(sums.sum("inuse_space", site, memory=memory), truth)

    def test_peaks_are_exact(self):
        peaks = {device: peak for device, peak in self.program.said["peak"].items() if peak}
        said = gpu_of(self.server, self.program.pid)
        self.assertEqual({device: row["peak_bytes"] for device, row in said.items() if row["peak_bytes"]}, peaks)

    def test_frees_and_failures(self):
        def total(name):
            return sum(row[name] for row in gpu_of(self.server, self.program.pid).values())
        self.assertEqual(total("frees"), self.program.said["frees"])
        self.assertEqual(total("failures"), self.program.said["failures"])

    def test_stacks_go_to_main(self):
        _, said, sums = self.cuts[0]
        whole = sums.profile.total(HELD.index("inuse_space"), lambda s: "main" in s.names)
        self.assertEqual(whole, sum(row[3] for row in said["sites"].values()))


class OfTheDriver(Cuts, unittest.TestCase):
    mode = "driver"
    libraries = (DRIVER,)


class OfTheRuntime(Cuts, unittest.TestCase):
    """When the runtime calls the driver, the driver's calls are counted, and none twice."""

    mode = "runtime"
    libraries = (DRIVER, "libcudart.so.12")

    def test_the_call_is_that_of_the_runtime(self):
        _, said, sums = self.cuts[0]
        truth = sum(row[3] for row in said["sites"].values())
        self.assertEqual(sums.by("inuse_space", "call"), {"cudaMalloc": truth})


class InPprof(unittest.TestCase):
    def test_go_tool_pprof_reads_the_same(self):
        with watching("gpu_truth", "driver") as server, GpuProgram("gpu_truth", "driver") as program:
            program.tell("sites")
            warm_up(server, 15)
            program.tell("empty")
            said = program.tell("sites")
            found = held_by_pprof(server, program, "inuse_space")
            for site in ("site_six", "site_three", "site_one"):
                truth = sum(row[3] for key, row in said["sites"].items() if key.split()[0] == site)
                self.assertEqual(found.get(site), truth, found)


class Tensors(unittest.TestCase):
    def test_tensors_of_both_devices_and_the_host(self):
        files = (DRIVER, "libcudart.so.12", "libc10.so")
        with watching("gpu_tensors", files=files, first=["train"]) as server, GpuProgram("gpu_tensors") as program:
            program.tell("train")
            warm_up(server, 15)
            program.tell("empty")
            for stage in ("train", "oom", "empty"):
                said = program.tell(stage)
                tensors, memory = sums_of(server, program, "gpu_tensor"), sums_of(server, program, "gpu_memory")
                for key, row in said["sites"].items():
                    site, device = key.split()
                    with self.subTest(stage=stage, site=key):
                        found = [tensors.sum(value, site, device=device) for value in HELD[2:]]
                        self.assertEqual(found, row[2:])
                with self.subTest(stage):
                    # Tensors are inside segments, and neither is added to the other.
                    self.assertEqual(memory.sum("inuse_space"), sum(said["reserved"]))
                    self.assertEqual(tensors.sum("inuse_space"), sum(row[3] for row in said["sites"].values()))


class WithoutAFree(unittest.TestCase):
    """Memory that is freed with its context, or with its last handle and its last mapping."""

    STAGES = ("contexts", "destroy", "continue", "other", "retain", "release", "release", "runtime", "reset", "runtime",
              "reset", "segments") + ("unsegment",) * 8 + ("tight", "untight", "shared", "unshare")

    @classmethod
    def setUpClass(cls):
        libraries = (DRIVER, "libcudart.so.12")
        watched = watching("gpu_contexts", files=libraries, first=["runtime"])
        cls.server = watched.__enter__()
        cls.addClassCleanup(watched.__exit__, None, None, None)
        # Stacks are truncated while unwind tables are built.
        with GpuProgram("gpu_contexts") as warm:
            warm.tell("contexts", "retain", "runtime", "segments", "tight", "shared")
            warm_up(cls.server, 15)
        cls.program = GpuProgram("gpu_contexts")
        cls.addClassCleanup(cls.program.__exit__)
        cls.cuts = [cls.cut(stage) for stage in cls.STAGES]

    @classmethod
    def cut(cls, stage):
        said = cls.program.tell(stage)["sites"]
        return stage, said, sums_of(cls.server, cls.program, "gpu_memory"), gpu_of(cls.server, cls.program.pid)

    def test_exact_by_stack_and_device(self):
        for number, (stage, said, sums, _) in enumerate(self.cuts):
            for key, row in said.items():
                site, device = key.split()
                with self.subTest(stage=stage, number=number, site=key):
                    self.assertEqual([sums.sum(value, site, device=device) for value in HELD], row)

    def test_all_is_exact(self):
        for number, (stage, said, sums, _) in enumerate(self.cuts):
            with self.subTest(stage=stage, number=number):
                self.assertEqual([sums.sum(value) for value in HELD],
                                 [sum(column) for column in zip(*said.values())])

    def test_figures_are_exact(self):
        for number, (stage, said, _, figures) in enumerate(self.cuts):
            for device, figure in figures.items():
                truth = sum(row[3] for key, row in said.items() if key.split()[1] == device)
                with self.subTest(stage=stage, number=number, device=device):
                    self.assertEqual(figure["in_use_bytes"], truth)

    def held(self, site, device, stage, nth=0):
        sums = [cut[2] for cut in self.cuts if cut[0] == stage][nth]
        return sums.sum("inuse_space", site, device=device)

    def test_what_goes_and_what_stays(self):
        """The program's own accounts follow CUDA's manual."""
        for site in ("site_six", "by_pitch", "by_managed", "by_array", "by_mipmaps"):
            with self.subTest(site):
                self.assertGreater(self.held(site, "0", "contexts"), 0)
                self.assertEqual(self.held(site, "0", "destroy"), 0)
                self.assertEqual(self.held(site, "1", "destroy"), self.held(site, "1", "contexts"))
                self.assertEqual(self.held(site, "1", "other"), 0)
                self.assertEqual(self.held(site, "0", "release", 0), self.held(site, "0", "retain"))
                self.assertEqual(self.held(site, "0", "release", 1), 0)
        for site in ("by_async", "by_pool", "by_create"):
            with self.subTest(site):
                self.assertEqual(self.held(site, "0", "destroy"), self.held(site, "0", "contexts"))
                self.assertEqual(self.held(site, "0", "release", 1), self.held(site, "0", "retain"))
        self.assertEqual([self.held("by_runtime_only", "1", stage, nth) > 0
                          for stage in ("runtime", "reset") for nth in (0, 1)], [True, True, False, False])
        steps = [self.held("by_segment", "0", "unsegment", nth) >> 21 for nth in range(8)]
        self.assertEqual(steps, [4, 3, 3, 2, 2, 1, 1, 0])
        self.assertEqual([self.held("by_tight", "0", stage) >> 21 for stage in ("tight", "untight")], [6, 0])
        self.assertEqual([self.held("by_shared", "0", stage) >> 21 for stage in ("shared", "unshare")], [1, 0])

    def test_nothing_is_lost(self):
        status = self.server.json("/status")["gpu"]
        for count in ("contexts_full", "maps_full", "malformed", "events_lost", "events_over_share",
                      "table_full", "unmatched"):
            with self.subTest(count):
                self.assertEqual(status[count], 0)


class SeenLate(unittest.TestCase):
    def test_references_that_were_not_seen_count(self):
        """profd does not report memory as freed that may be in use, when the program ran before the daemon."""
        with GpuProgram("gpu_contexts") as program:
            before = program.tell("retain")["sites"]
            with daemon.Daemon() as server:
                wait_probed(server, DRIVER)
                program.tell("retain", "release")
                after = program.tell("release")["sites"]
                truth = sum(row[3] for row in changes(before, after).values())
                self.assertGreater(truth, 0)
                self.assertEqual(sums_of(server, program, "gpu_memory").sum("inuse_space"), truth)
                # The memory of a context that is created after the daemon's start is exact.
                kept = sum(row[3] for row in changes(before, program.tell("contexts")["sites"]).values())
                self.assertEqual(sums_of(server, program, "gpu_memory").sum("inuse_space"), kept)
                kept = sum(row[3] for row in changes(before, program.tell("destroy")["sites"]).values())
                self.assertEqual(sums_of(server, program, "gpu_memory").sum("inuse_space"), kept)


class AfterTheEnd(unittest.TestCase):
    def test_killed(self):
        """A killed program's memory is no longer in use, and its allocations stay counted."""
        with watching("gpu_truth", "driver") as server, GpuProgram("gpu_truth", "driver") as program:
            said = program.tell("sites")
            held = sum(row[3] for row in said["sites"].values())
            self.assertEqual(sums_of(server, program, "gpu_memory").sum("inuse_space"), held)
            program.process.kill()
            program.process.wait()
            self.assertTrue(until(lambda: not sums_of(server, program, "gpu_memory").sum("inuse_space"), 10))
            allocated = sum(row[1] for row in said["sites"].values())
            self.assertEqual(sums_of(server, program, "gpu_memory").sum("alloc_space"), allocated)
