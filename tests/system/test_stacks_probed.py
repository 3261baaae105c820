# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Whole stacks of threads inside functions with return probes: the kernel has replaced their return addresses with its
trampoline's. It makes no difference whose probes these are; the tests use those of tracefs and of /heap.
"""

import contextlib
import os
import subprocess
import unittest

import daemon
from heap_runs import HeapRequest, uprobe_paths, until
from warm_up import warm_up
from workload import Workload, workload_path

BESIDE = True
HZ = 499
SECONDS = 6
TRACEFS = "/sys/kernel/tracing"
PROBED = [
    "probed_1", "probed_2", "probed_3", "probed_left", "probed_deep", "probed_short", "tail_call", "tail_target",
]
WORKLOADS = ["nested", "tail", "jumped", "deep", "short"]
NESTED = ["probed_3", "probed_2", "between", "probed_1"]
DEPTH = 80  # of stacks_probed.c
AT_THE_EDGE = 0.03  # share of samples, in programs that do little but enter and leave functions with probes


def offsets(path):
    """Returns function -> file offset, for a file whose first segments are mapped at their file offsets."""
    lines = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: address for address, _, name in (line.split() for line in lines if len(line.split()) == 3)}


@contextlib.contextmanager
def tracefs():
    """Mounts tracefs unless it is mounted."""
    mounted = os.path.exists(os.path.join(TRACEFS, "uprobe_events"))
    if not mounted:
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACEFS], check=True)
    try:
        yield
    finally:
        if not mounted:
            subprocess.run(["umount", "-l", TRACEFS], check=True)


@contextlib.contextmanager
def return_probes(path, functions):
    """Attaches return probes by tracefs to a file's functions; yields a function that returns their hits."""
    group, at = f"profd_test_{os.getpid()}", offsets(path)
    events = os.path.join(TRACEFS, "uprobe_events")

    def write(file, text):
        # O_APPEND, because otherwise opening the file deletes all probes of the host; Python's "a" seeks, which fails here.
        handle = os.open(file, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)

    def hits():
        with open(os.path.join(TRACEFS, "uprobe_profile"), encoding="ascii") as file:
            rows = [line.split() for line in file]
        return {row[1]: int(row[2]) for row in rows if row[1] in functions}

    with contextlib.ExitStack() as stack:
        for function in functions:
            write(events, f"r:{group}/{function} {path}:0x{at[function]}\n")
            stack.callback(write, events, f"-:{group}/{function}\n")
        write(os.path.join(TRACEFS, "events", group, "enable"), "1")
        stack.callback(write, os.path.join(TRACEFS, "events", group, "enable"), "0")
        yield hits


def why_cut(sample):
    root = sample.names[-1]
    return root if root.startswith("[unknown: ") else None


def in_kernel(sample):
    return sample.mappings[0].startswith("[kernel")


def of_process(profile, pid):
    """Returns the process's samples that have a user stack."""
    return [s for s in profile.samples if s.labels["pid"] == pid and not s.mappings[-1].startswith("[kernel")]


class StacksProbed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.Daemon(hz=HZ)
        cls.addClassCleanup(cls.daemon.stop)

    def check(self, samples, chain, leaf):
        """Asserts that no stack is truncated in user space, and that the others lead from the leaf to main."""
        total = sum(s.count for s in samples)
        self.assertGreater(total, 100)
        cut = [s for s in samples if why_cut(s)]
        shown = "\n".join(map(repr, cut[:5]))
        # When a function begins, there is a moment in the kernel in which the address is neither on the stack nor in the
        # list, and at the end of the trampoline one in which it is not back in its place.
        self.assertFalse([s for s in cut if not in_kernel(s) and s.names[0] != "[uprobes]"], shown)
        self.assertLessEqual(sum(s.count for s in cut), AT_THE_EDGE * total, shown)
        spins = [s for s in samples if leaf in s.names and not in_kernel(s)]
        self.assertGreater(sum(s.count for s in spins), 0.05 * total)
        others = [s for s in spins if s.names[s.names.index(leaf):][:len(chain)] != chain]
        # A recursion that is descending or returning is not that deep.
        self.assertLessEqual(sum(s.count for s in others), 0.1 * sum(s.count for s in spins), others[:3])

    def test_return_probes(self):
        path = workload_path("stacks_probed")
        with contextlib.ExitStack() as stack:
            stack.enter_context(tracefs())
            hits = stack.enter_context(return_probes(path, PROBED))
            running = {w: stack.enter_context(Workload("stacks_probed", w)) for w in WORKLOADS}
            warm_up(self.daemon)
            profile = self.daemon.profile(f"seconds={SECONDS}")
            hit = hits()
        for function in PROBED:
            self.assertGreater(hit[function], 100, function)
        of = {w: of_process(profile, running[w].pid) for w in WORKLOADS}
        for workload, chain in {
            "nested": NESTED + ["main"],
            "jumped": NESTED + ["after_jump", "main"],
            "tail": ["tail_target", "before_tail", "main"],
            "deep": ["probed_deep"] * DEPTH + ["main"],
            "short": ["probed_short", "main"],
        }.items():
            with self.subTest(workload):
                self.check(of[workload], chain, chain[0])

    def test_heap_sessions(self):
        """The program spends its time in calloc, whose return profd always awaits, and which may have jumped to memset."""
        with Workload("stacks_probed", "memory") as workload:
            warm_up(self.daemon)
            heap = HeapRequest(self.daemon, f"pid={workload.pid}&seconds={SECONDS + 4}&rate=64KiB")
            self.assertTrue(until(lambda: any("libc" in path for path in uprobe_paths(self.daemon))))
            profile = self.daemon.profile(f"seconds={SECONDS}&pid={workload.pid}")
            self.assertGreater(heap.heap().sampled, 100)
        self.check(of_process(profile, workload.pid), ["fill_memory", "main"], "fill_memory")
