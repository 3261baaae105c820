# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Whole stacks of threads that are in functions with return probes: while they are, the kernel's trampoline is
where their return addresses were. Whose probes these are makes no difference; here they are tracefs', and /heap's.
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
AT_THE_EDGE = 0.03  # of the samples of programs that do little but enter and leave probed functions


def offsets(path):
    """Function -> where it is in a file whose first segments are mapped as they lie there."""
    lines = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: address for address, _, name in (line.split() for line in lines if len(line.split()) == 3)}


@contextlib.contextmanager
def tracefs():
    """Mounted, where nobody has."""
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
    """Return probes of tracefs on a file's functions, and how often they were hit, by function."""
    group, at = f"profd_test_{os.getpid()}", offsets(path)
    events = os.path.join(TRACEFS, "uprobe_events")

    def write(file, text):
        # Appended, or the file is emptied of everybody's; Python's "a" seeks, which it cannot.
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
    """Samples with a stack of user space."""
    return [s for s in profile.samples if s.labels["pid"] == pid and not s.mappings[-1].startswith("[kernel")]


class StacksProbed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.Daemon(hz=HZ)
        cls.addClassCleanup(cls.daemon.stop)

    def check(self, samples, chain, leaf):
        """None in user space is cut, the others lead from the leaf to main as they should."""
        total = sum(s.count for s in samples)
        self.assertGreater(total, 100)
        cut = [s for s in samples if why_cut(s)]
        shown = "\n".join(map(repr, cut[:5]))
        # There is a moment in the kernel, when a function begins, in which the address is neither on the stack nor
        # in the list, and one at the end of the trampoline in which it is not yet where it was.
        self.assertFalse([s for s in cut if not in_kernel(s) and s.names[0] != "[uprobes]"], shown)
        self.assertLessEqual(sum(s.count for s in cut), AT_THE_EDGE * total, shown)
        spins = [s for s in samples if leaf in s.names and not in_kernel(s)]
        self.assertGreater(sum(s.count for s in spins), 0.05 * total)
        others = [s for s in spins if s.names[s.names.index(leaf):][:len(chain)] != chain]
        # On its way down and up again a recursion is not that deep.
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
        """An allocator's function whose return is always waited for, in which a program spends its time: calloc,
        which may have jumped to memset.
        """
        with Workload("stacks_probed", "memory") as workload:
            warm_up(self.daemon)
            heap = HeapRequest(self.daemon, f"pid={workload.pid}&seconds={SECONDS + 4}&rate=64KiB")
            self.assertTrue(until(lambda: any("libc" in path for path in uprobe_paths(self.daemon))))
            profile = self.daemon.profile(f"seconds={SECONDS}&pid={workload.pid}")
            self.assertGreater(heap.heap().sampled, 100)
        self.check(of_process(profile, workload.pid), ["fill_memory", "main"], "fill_memory")
