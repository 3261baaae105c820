# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The label `thread` is Python's own name of a thread, which CPython does not pass to the kernel before 3.14."""

import collections
import glob
import re
import time
import unittest

from daemon import CPUS
from python_runs import PythonCase, recorded, running
from pythons import name_of, pythons

NAMES = {
    "named": "worker-7",
    "changed": "after",
    "of_a_subclass": "s\xfc\u2603",
    "with_a_dict": "dict-holder",
    "main_work": "MainThread",
    "in_child": "MainThread",
    "of_child": "child-worker",
    "forked_there": "forker",
    "in_sub": "sub-worker",
}


def those_asked():
    """Returns the Pythons before 3.14, which passes the names to the kernel. There is no free-threaded build to be tested."""
    return [python for python in pythons() if python.minor <= 13]


def default_name(python):
    return "Thread-1 (defaulted)" if python.minor >= 10 else "Thread-1"


class Threads(PythonCase):
    @classmethod
    def setUpClass(cls):
        commands = {python: (python, "thread_names") for python in those_asked()}
        with running(commands) as (server, started):
            cls.pids = {workload.pid: python for python, workload in started.items()}
            # The scripts name their threads, one of them twice; profd reads the names a few seconds later.
            time.sleep(9)
            cls.children = {pid: children_of(pid) for pid in cls.pids}
            cls.profile = server.profile(recorded(started, 6))
            cls.status = server.json("/status")["python"]

    def test_each_function_runs_in_the_thread_that_it_says(self):
        for python, samples in self.each():
            names = {**NAMES, "defaulted": default_name(python)}
            for function, name in names.items():
                with self.subTest(f"{name_of(python)}: {function}"):
                    its = [s for s in samples if function in self.python_names(s)]
                    self.assert_mostly(its, lambda s, n=name: s.labels.get("thread") == n)

    def test_what_python_made_up_is_not_said(self):
        for python, samples in self.each():
            with self.subTest(name_of(python)):
                its = [s for s in samples if "of_nobody" in self.python_names(s)]
                self.assert_mostly(its, lambda s: s.labels.get("thread") == s.labels.get("comm"))

    def test_it_costs_next_to_nothing(self):
        self.assertGreater(self.status["threads_named"], 5 * len(self.pids))
        self.assertEqual(self.status["threads_refused"], 0)
        self.assertEqual(self.status["threads_readings_late"], 0)

    def each(self):
        """Yields (Python, its samples and those of its children)."""
        for pid, python in self.pids.items():
            pids = {pid, *self.children[pid]}
            yield python, [s for s in self.profile.samples if s.labels["pid"] in pids]


def children_of(pid):
    """Returns the children that the process's threads have forked."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path, encoding="ascii") as file:
            found += map(int, file.read().split())
    return found


class Short(PythonCase):
    """Threads that run for 0.2 s, one after the other, in twice as many Pythons at once as there are CPUs."""

    def test_each_has_its_own_name(self):
        waiting = those_asked()
        while waiting:
            some, waiting = waiting[:2 * CPUS], waiting[2 * CPUS:]
            with running({python: (python, "thread_names", "short") for python in some}) as (server, started):
                self.profile = server.profile(recorded(started, 3))
            for python in some:
                with self.subTest(name_of(python)):
                    self.assert_own_names(python, self.of(started[python]))

    def assert_own_names(self, python, samples):
        found = collections.Counter()
        for sample in samples:
            numbers = [re.fullmatch("short_([0-9]+)", name) for name in self.python_names(sample)]
            for number in filter(None, numbers):
                label = sample.labels["thread"]
                right = label == f"short-{number[1]}"
                found["right" if right else "none" if label == sample.labels["comm"] else label] += sample.count
        print(f"\n  {name_of(python)}: {found}", end=" ")
        self.assertGreater(found["right"], 250)
        self.assertGreater(found["right"], 20 * found["none"])
        # No thread has the name of another one.
        self.assertEqual(set(found) - {"right", "none"}, set())


if __name__ == "__main__":
    unittest.main()
