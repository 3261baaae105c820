# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Launches, copies and waits by stack: as many as the program reports, each counted once, with readable names."""

import time
import unittest

import daemon
from gpu_runs import DRIVER, GpuProgram, sums_of, wait_probed, watching
from warm_up import warm_up

LANE = "gpu"
PROGRAMS = {
    "gpu_launches": (DRIVER, "libcudart.so.12"),
    "gpu_launches-13": (DRIVER, "libcudart.so.13"),
    "gpu_launches-static": (DRIVER,),
}
STORM = 100000
WAIT_SITES = ("waits_in_stream", "waits_for_all", "waits_for_event", "waits_to_copy")


class Calls:
    """Each program does everything once first, so that its unwind tables are built; the sums are of what comes after."""

    @classmethod
    def setUpClass(cls):
        watched = watching(cls.name, files=PROGRAMS[cls.name])
        cls.server = watched.__enter__()
        cls.addClassCleanup(watched.__exit__, None, None, None)
        cls.program = GpuProgram(cls.name)
        cls.addClassCleanup(cls.program.__exit__)
        cls.program.tell("runtime", "driver", "graphs", "workers", "copies")
        warm_up(cls.server, 15)
        cls.first = cls.program.said

    def after(self, *commands, query=""):
        """Executes the commands; returns the Sums before and after, and {kind: growth} by the program's own account."""
        kinds = {"launches": "gpu_launch", "shapes": "gpu_launch", "copies": "gpu_copy", "waits": "gpu_wait",
                 "lasts": "gpu_wait"}
        before, said = self.profiles(query), self.program.said
        now = self.program.tell(*commands)
        found = self.profiles(query)
        truth = {what: {name: [b - a for a, b in zip(said[what].get(name, (0, 0)), row)]
                        for name, row in now[what].items()} for what in kinds}
        return before, found, {what: {k: v for k, v in rows.items() if any(v)} for what, rows in truth.items()}

    def profiles(self, query=""):
        return {kind: sums_of(self.server, self.program, kind, query if kind == "gpu_launch" else "")
                for kind in ("gpu_launch", "gpu_copy", "gpu_wait")}

    @staticmethod
    def grown(before, after):
        return {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name, 0)}

    def test_launches_by_kernel(self):
        before, found, truth = self.after("runtime", "driver", "graphs", "workers")
        launches = {name: row[0] for name, row in truth["launches"].items()}
        labels = [sums["gpu_launch"].by("launches", "kernel") for sums in (before, found)]
        self.assertEqual(self.grown(*labels), launches)
        leaves = [sums["gpu_launch"].leaves("launches") for sums in (before, found)]
        self.assertEqual(self.grown(*leaves), launches)

    def test_launches_by_stack(self):
        before, found, _ = self.after("runtime", "driver", "graphs")
        for site, count in (("layer_one", 60), ("layer_two", 30), ("layer_three", 10), ("by_driver", 40),
                            ("by_config", 20), ("by_cooperative", 5), ("by_graph", 25), ("trains", 100), ("main", 190)):
            with self.subTest(site):
                more = found["gpu_launch"].sum("launches", site) - before["gpu_launch"].sum("launches", site)
                self.assertEqual(more, count)

    def test_shapes(self):
        before, found, truth = self.after("runtime", "driver", query="&dims=1")

        def shapes(sums):
            rows = {}
            for sample in sums["gpu_launch"].profile.samples:
                shape = f"{sample.labels.get('grid')} {sample.labels.get('block')}"
                rows[shape] = rows.get(shape, 0) + sample.values[0]
            return rows
        self.assertEqual(self.grown(shapes(before), shapes(found)), {k: v[0] for k, v in truth["shapes"].items()})

    def test_no_shapes_unless_asked(self):
        for sample in self.profiles()["gpu_launch"].profile.samples:
            self.assertNotIn("grid", sample.labels)

    def test_threads(self):
        before, found, _ = self.after("workers")
        more = self.grown(before["gpu_launch"].by("launches", "thread"), found["gpu_launch"].by("launches", "thread"))
        self.assertEqual(more, {"worker": 300})

    def test_a_storm(self):
        start = time.monotonic()
        before, found, _ = self.after("storm")
        self.assertLess(time.monotonic() - start, 20)
        more = found["gpu_launch"].sum("launches") - before["gpu_launch"].sum("launches")
        self.assertEqual(more, STORM)
        of_site = found["gpu_launch"].sum("launches", "storm") - before["gpu_launch"].sum("launches", "storm")
        self.assertEqual(of_site, STORM)

    def test_copies(self):
        before, found, truth = self.after("copies")
        for index, value in ((0, "copies"), (1, "copied")):
            more = self.grown(*[sums["gpu_copy"].by(value, "direction") for sums in (before, found)])
            self.assertEqual(more, {name: row[index] for name, row in truth["copies"].items()})

    def test_waits(self):
        for command in ("sleeps", "spins"):
            before, found, truth = self.after(command)
            for site in WAIT_SITES:
                with self.subTest(command=command, site=site):
                    (count, ns), (_, lasted) = truth["waits"][site], truth["lasts"][site]
                    waits, wait = (found["gpu_wait"].sum(value, site) - before["gpu_wait"].sum(value, site)
                                   for value in ("waits", "wait"))
                    self.assertEqual(waits, count)
                    # The call itself measures a part of its time, its caller slightly more than all of it.
                    self.assertTrue(ns <= wait <= lasted, (ns, wait, lasted))

    def test_nothing_was_lost(self):
        metrics = self.server.metrics()
        lost = {name: value for name, value in metrics.items() if name.startswith("profd_gpu") and "lost" in name and value}
        self.assertEqual(lost, {})


class Runtime12(Calls, unittest.TestCase):
    name = "gpu_launches"

    def test_calls_of_the_runtime_are_named(self):
        before, found, _ = self.after("copies", "sleeps")
        copies = self.grown(*[sums["gpu_copy"].by("copies", "call") for sums in (before, found)])
        self.assertEqual({name: copies.get(name) for name in ("cudaMemcpy", "cudaMemcpyAsync", "cudaMemset")},
                         {"cudaMemcpy": 30, "cudaMemcpyAsync": 20, "cudaMemset": 10})
        waits = self.grown(*[sums["gpu_wait"].by("waits", "call") for sums in (before, found)])
        self.assertEqual(waits.get("cudaStreamSynchronize"), 3)
        self.assertEqual(waits.get("cuStreamSynchronize"), 2)


class Runtime13(Calls, unittest.TestCase):
    name = "gpu_launches-13"


class StaticRuntime(Calls, unittest.TestCase):
    name = "gpu_launches-static"


class Late(unittest.TestCase):
    """The daemon starts after the program has looked up the names."""

    def test_names_are_those_of_the_stubs(self):
        with GpuProgram("gpu_launches") as program:
            program.tell("runtime", "driver")
            with daemon.Daemon() as server:
                wait_probed(server, DRIVER)
                program.tell("runtime", "driver")
                warm_up(server, 15)
                before = sums_of(server, program, "gpu_launch").by("launches", "kernel")
                program.tell("runtime", "driver")
                after = sums_of(server, program, "gpu_launch").by("launches", "kernel")
                more = Calls.grown(before, after)
                for name, count in (("scale_add(float*, float*, int)", 60), ("reduce(int*, int)", 30),
                                    ("void fill<float, 4>(float*)", 10)):
                    self.assertEqual(more.pop(name, None), count, after)
                # A kernel whose name only the driver knew is shown as a number.
                self.assertEqual(sorted(more.values()), [25, 40])
                self.assertTrue(all(name.startswith("<kernel 0x") for name in more), more)
