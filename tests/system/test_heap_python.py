# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""/heap of a Python program: its lines in the order of what they take."""

import unittest

import daemon
from heap_runs import heap_of
from python_truth import python_frames
from pythons import script, system_python
from warm_up import warm_up
from workload import Workload

SHARES = {"list": 0.6, "dict": 0.3, "array": 0.1}
FUNCTIONS = {"list": "grow_list", "dict": "grow_dict", "array": "grow_array"}


def marked_lines():
    """{mark: line} of grows.py."""
    with open(script("grows"), encoding="utf-8") as file:
        lines = list(enumerate(file, 1))
    return {mark: number for number, line in lines for mark in SHARES if line.endswith(f"  # {mark}\n")}


class HeapOfPython(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with daemon.Daemon() as server, Workload(system_python().path, script("grows")) as workload:
            warm_up(server, 5)
            cls.profile = heap_of(server, f"pid={workload.pid}&seconds=5&force=1&rate=2KiB")
            cls.text = server.get(f"/heap?pid={workload.pid}&seconds=1&force=1&rate=2KiB&format=text&by=line").text

    def held_by_line(self):
        """{(function, line): bytes held} of the innermost Python frame."""
        held = {}
        for sample in self.profile.samples:
            frames = python_frames(self.profile, sample)
            if frames:
                key = frames[-1].name.rpartition(".")[2], frames[-1].line
                held[key] = held.get(key, 0) + sample.values[3]
        return held

    def test_lines(self):
        held, lines = self.held_by_line(), marked_lines()
        total = self.profile.sum("inuse_space")
        for mark, share in SHARES.items():
            self.assertAlmostEqual(held.get((FUNCTIONS[mark], lines[mark]), 0) / total, share, delta=0.05, msg=held)

    def test_lines_in_order(self):
        held, lines = self.held_by_line(), marked_lines()
        order = sorted(held, key=held.get, reverse=True)[:3]
        self.assertEqual(order, [(FUNCTIONS[mark], lines[mark]) for mark in SHARES])

    def test_stacks_reach_from_main_to_malloc(self):
        whole = self.profile.total(3, lambda s: self.names(s)[:2] == ["<module>", "main"])
        self.assertGreater(whole / self.profile.sum("inuse_space"), 0.98)

    def names(self, sample):
        return [frame.name for frame in python_frames(self.profile, sample)]

    def test_text_by_line_shows_the_source(self):
        self.assertIn("self.strings.append(bytes(BLOCK))  # list", self.text)
