# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""/heap of a Python program has its lines, ordered by the memory that they hold."""

import subprocess
import time
import unittest

import daemon
from heap_runs import HeapRequest, heap_of, is_sampling, until
from python_truth import python_frames
from pythons import script, system_python
from warm_up import warm_up
from workload import Workload

BESIDE = LONG = True
SHARES = {"list": 0.6, "dict": 0.3, "array": 0.1}
FUNCTIONS = {"list": "grow_list", "dict": "grow_dict", "array": "grow_array"}


def marked_lines(name, marks):
    """Returns {mark: line} of a script."""
    with open(script(name), encoding="utf-8") as file:
        lines = list(enumerate(file, 1))
    return {mark: number for number, line in lines for mark in marks if line.endswith(f"  # {mark}\n")}


def held_by_line(profile):
    """Returns {(function, line): bytes held}, by the innermost Python frame."""
    held = {}
    for sample in profile.samples:
        frames = python_frames(profile, sample)
        if frames:
            key = frames[-1].name.rpartition(".")[2], frames[-1].line
            held[key] = held.get(key, 0) + sample.values[3]
    return held


def wait_for_python(server):
    """Waits until profd knows which processes run Python: it reads one file after the other, of perhaps a dozen CPythons."""
    until(lambda: server.metrics()["profd_python_processes"] > 0 and not is_looking(server), seconds=60)


def is_looking(server):
    """Whether a reader process is at work."""
    def requests():
        return server.metrics()["profd_readers_busy_seconds_total"]
    before = requests()
    time.sleep(0.7)
    return requests() != before


class HeapOfPython(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with daemon.Daemon() as server, Workload(system_python().path, script("grows")) as workload:
            warm_up(server, 5)
            wait_for_python(server)
            cls.profile = heap_of(server, f"pid={workload.pid}&seconds=5&force=1&rate=2KiB")
            cls.text = server.get(f"/heap?pid={workload.pid}&seconds=1&force=1&rate=2KiB&format=text&by=line").text
            cls.alone = server.get(f"/heap?pid={workload.pid}&seconds=1&force=1&rate=2KiB&native=0&format=folded").text

    def test_lines(self):
        held, lines = held_by_line(self.profile), marked_lines("grows", SHARES)
        total = self.profile.sum("inuse_space")
        for mark, share in SHARES.items():
            self.assertAlmostEqual(held.get((FUNCTIONS[mark], lines[mark]), 0) / total, share, delta=0.05, msg=held)

    def test_lines_in_order(self):
        held, lines = held_by_line(self.profile), marked_lines("grows", SHARES)
        order = sorted(held, key=held.get, reverse=True)[:3]
        self.assertEqual(order, [(FUNCTIONS[mark], lines[mark]) for mark in SHARES])

    def test_stacks_reach_from_main_to_malloc(self):
        whole = self.profile.total(3, lambda s: self.names(s)[:2] == ["<module>", "main"])
        self.assertGreater(whole / self.profile.sum("inuse_space"), 0.98)

    def names(self, sample):
        return [frame.name for frame in python_frames(self.profile, sample)]

    def test_text_by_line_shows_the_source(self):
        self.assertIn("self.strings.append(bytes(BLOCK))  # list", self.text)


    def test_native_0_leaves_the_lines_of_python(self):
        stacks = [line.rpartition(" ")[0].split(";") for line in self.alone.splitlines()]
        self.assertIn("grow_list", {stack[-1].rpartition(".")[2] for stack in stacks})
        self.assertNotIn("malloc", self.alone)
        self.assertEqual({stack[1] for stack in stacks} - {"<module>", "[native code]"}, set(), self.alone)


class SmallObjects(unittest.TestCase):
    """Small objects, whose memory CPython takes from the kernel and hands out itself."""

    shares = {"bytes": 0.6, "tuple": 0.3, "short": 0.1}
    functions = {"bytes": "keep_bytes", "tuple": "keep_tuples", "short": "keep_short"}

    @classmethod
    def setUpClass(cls):
        argv = system_python().path, script("small_objects")
        cls.truth = int(subprocess.run([*argv, "--truth"], check=True, capture_output=True).stdout)
        with daemon.Daemon() as server, Workload(*argv, stdin=subprocess.PIPE) as workload:
            warm_up(server, 5)
            wait_for_python(server)
            cls.kept = cls.heap_while(server, workload, "keep")
            cls.dropped = cls.heap_while(server, workload, "drop", "keep", "drop")

    @staticmethod
    def heap_while(server, workload, *words):
        """Returns the heap profile of a time in which the program executes the commands."""
        request = HeapRequest(server, f"pid={workload.pid}&seconds=8&force=1&rate=64KiB")
        until(lambda: is_sampling(server))
        for word in words:
            workload.process.stdin.write(word + "\n")
            workload.process.stdin.flush()
            workload.process.stdout.readline()
        return request.heap()

    def test_the_sum_is_what_tracemalloc_counts(self):
        self.assertAlmostEqual(self.kept.sum("inuse_space") / self.truth, 1, delta=0.05)

    def test_lines(self):
        held, lines = held_by_line(self.kept), marked_lines("small_objects", self.shares)
        for mark, share in self.shares.items():
            found = held.get((self.functions[mark], lines[mark]), 0) / self.kept.sum("inuse_space")
            self.assertAlmostEqual(found, share, delta=0.05, msg=held)

    def test_what_is_given_back_is_not_in_use(self):
        self.assertAlmostEqual(self.dropped.sum("alloc_space") / self.truth, 1, delta=0.1)
        self.assertLess(self.dropped.sum("inuse_space") / self.truth, 0.05)
