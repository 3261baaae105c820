# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""GPU calls of Python programs, by the line that makes them."""

import unittest

import daemon
from gpu_runs import DRIVER, HELD, PYTHON_SCRIPT, python_program, sums_of, wait_probed
from python_truth import python_frames
from pythons import name_of, pythons
from warm_up import warm_up

LANE = "gpu"


def lines_marked():
    """Returns mark -> number of the line that ends in "# -> mark"."""
    with open(PYTHON_SCRIPT, encoding="utf-8") as file:
        rows = enumerate(file, 1)
        return {line.rpartition("# -> ")[2].strip(): number for number, line in rows if "# -> " in line
                and "NAME" not in line}


def has_line(profile, sample, line):
    return any(frame.file == PYTHON_SCRIPT and frame.line == line for frame in python_frames(profile, sample))


def at_line(sums, value, line):
    index = sums.values.index(value)
    return sums.profile.total(index, lambda s: has_line(sums.profile, s, line))


class GpuPython(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = daemon.Daemon()
        cls.addClassCleanup(cls.server.stop)
        cls.lines = lines_marked()

    def warm(self, program):
        """Makes the program launch kernels until its stacks reach its Python lines."""
        wait_probed(self.server, DRIVER)
        for _ in range(10):
            program.tell("launch", "allocate", "wait")
            warm_up(self.server, 10)
            before = at_line(sums_of(self.server, program, "gpu_launch"), "launches", self.lines["launch"])
            program.tell("launch")
            if at_line(sums_of(self.server, program, "gpu_launch"), "launches", self.lines["launch"]) - before == 40:
                return
        self.fail("stacks never reach the line")

    def test_lines(self):
        for python in pythons():
            with self.subTest(name_of(python)), python_program(python) as program:
                self.warm(program)
                self.check(program)

    def check(self, program):
        before = {kind: sums_of(self.server, program, kind) for kind in ("gpu_memory", "gpu_launch", "gpu_wait")}
        said = program.said
        now = program.tell("allocate", "launch", "wait")
        after = {kind: sums_of(self.server, program, kind) for kind in before}

        def grown(kind, value, mark):
            return at_line(after[kind], value, self.lines[mark]) - at_line(before[kind], value, self.lines[mark])
        for mark, row in now["memory"].items():
            more = [b - a for a, b in zip(said["memory"][mark], row)]
            for index, value in enumerate(HELD[:2]):
                self.assertEqual(grown("gpu_memory", value, mark), more[index], (mark, value))
        self.assertEqual(grown("gpu_launch", "launches", "launch"), 40)
        self.assertEqual(after["gpu_launch"].by("launches", "kernel").get("triton_relu"), now["launches"]["triton_relu"])
        self.assertEqual(grown("gpu_wait", "waits", "wait"), 10)
        least, most = (now["waits"][by] - said["waits"][by] for by in ("wait", "lasts"))
        self.assertTrue(least <= grown("gpu_wait", "wait", "wait") <= most, (least, most))
        held = sum(row[3] for row in now["memory"].values())
        self.assertEqual(after["gpu_memory"].sum("inuse_space"), held)
