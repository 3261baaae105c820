# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Stacks of programs without frame pointers are whole, as the first comments of stacks_* say."""

import contextlib
import os
import unittest

import daemon
from heap_runs import until
from warm_up import warm_up
from workload import Workload, spend

BESIDE = LONG = True
HZ = 499  # all programs share the CPUs for one profile, and each needs some hundred samples
SECONDS = 8
CPU_SECONDS = 0.3  # of each

WORKLOADS = {
    "chain-static": ("stacks_chain-static",),
    "chain-static-pie": ("stacks_chain-static-pie",),
    "chain-musl": ("stacks_chain-musl",),
    "frames": ("stacks_frames",),
    "plain": ("stacks_signals", "plain"),
    "altstack": ("stacks_signals", "altstack"),
    "nested": ("stacks_signals", "nested"),
    "recursion-400": ("stacks_recursion", 400),
    "recursion-5000": ("stacks_recursion", 5000),
    "coroutine": ("stacks_coroutine",),
    "longjmp": ("stacks_longjmp",),
    "plt": ("stacks_plt",),
    "plt-lazy": ("stacks_plt-lazy",),
    "threads": ("stacks_threads",),
    "syscalls": ("stacks_syscalls",),
    "throw": ("stacks_throw",),
    "dlopen": ("stacks_dlopen",),
    "vfork": ("stacks_vfork",),
}

PLT = ["plt", "plt-lazy"]
if os.uname().machine == "x86_64":
    WORKLOADS["plt-ibt"] = ("stacks_plt-ibt",)
    PLT.append("plt-ibt")

# profd does not walk as many as 5000 frames, and coroutines have their own test. Code that was mapped or started
# milliseconds ago cannot have an unwind table yet.
MEANT_TO_BE_WHOLE = WORKLOADS.keys() - {"recursion-5000", "coroutine", "threads", "dlopen", "vfork"}

LEVELS = [f"level{i:02}" for i in range(12, 0, -1)] + ["main"]
MAX_FRAMES = 512


def cut(sample):
    """Returns why the stack is truncated, or None."""
    root = sample.names[-1]
    return root[len("[unknown: "):-1] if root.startswith("[unknown: ") else None


def has_user_stack(sample):
    return not sample.mappings[-1].startswith("[kernel")


def whole(sample):
    # musl's _start is a label without a size, so it has no name at its last byte.
    return sample.names[-1] == "_start" or sample.names[-1].startswith("[stacks_chain-musl+")


def own(sample, names):
    """Returns the frames of the workload, without frames of libraries in between."""
    return [name for name in sample.names if name in names]


class Stacks(unittest.TestCase):
    """All programs at once, in one profile."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        with cls.stack:
            # How soon a busy host lets it run, and so when it hears of a process, is not what is looked at.
            server = cls.stack.enter_context(daemon.Daemon(hz=HZ, first=True))
            running = {
                name: cls.stack.enter_context(Workload(*command)) for name, command in WORKLOADS.items()
            }
            warm_up(server)
            until(lambda: cls.are_walked(server, running), seconds=60)
            # The time of the children that vfork waits for is not its own.
            busy = [workload.pid for name, workload in running.items() if name != "vfork"]
            profile = server.profile(spend(busy, CPU_SECONDS, SECONDS))
        names = {workload.pid: name for name, workload in running.items()}
        cls.samples = {name: [] for name in WORKLOADS}
        for sample in profile.samples:
            name = names.get(sample.labels["pid"])
            if sample.labels.get("comm") == "stacks_vfork":
                name = "vfork"
            if name and has_user_stack(sample):
                cls.samples[name].append(sample)

    @staticmethod
    def are_walked(server, running):
        """Whether the tables are there that programs ask for by running. On busy CPUs some programs hardly run while profd warms up."""
        samples = [sample for sample in server.profile("last=1s").samples if has_user_stack(sample)]
        return all(any(sample.labels["pid"] == running[name].pid and whole(sample) for sample in samples)
                   for name in MEANT_TO_BE_WHOLE)

    def of(self, name, leaf=None):
        """Returns a workload's samples, only those in its function `leaf` where given; there must be many."""
        samples = [s for s in self.samples[name] if leaf is None or s.names[0] == leaf]
        self.assertGreater(sum(s.count for s in samples), 20, f"{name}: {leaf}")
        return samples

    def share(self, samples, where):
        total = sum(sample.count for sample in samples)
        return sum(sample.count for sample in samples if where(sample)) / total

    def assert_mostly(self, samples, where, at_least=0.995):
        share = self.share(samples, where)
        others = sorted((s for s in samples if not where(s)), key=lambda s: -s.count)
        shown = "\n".join(map(repr, others[:5]))
        self.assertGreaterEqual(share, at_least, f"{100 * share:.2f} %; not so:\n{shown}")

    def assert_leads(self, name, chain, at_least=0.995):
        """Asserts that the samples in the chain's leaf begin with the whole chain."""
        self.assert_mostly(self.of(name, chain[0]), lambda s: s.names[:len(chain)] == chain, at_least)

    def test_stacks_are_whole(self):
        for name in sorted(MEANT_TO_BE_WHOLE):
            with self.subTest(name):
                # In the last instructions of _Unwind_Resume the stack pointer is already the handler's, and their call frame
                # information is wrong.
                self.assert_mostly(self.of(name), whole, 0.98 if name == "throw" else 0.995)

    def test_statically_linked_programs(self):
        for name in ("chain-static", "chain-static-pie", "chain-musl"):
            with self.subTest(name):
                for leaf in ("hot60", "hot30"):
                    self.assert_leads(name, [leaf, *LEVELS])

    def test_frames_of_unknown_size_and_place(self):
        self.assert_leads("frames", [
            "leaf", "huge_frame", "realigned_argument", "realigned_vla", "aligned_64", "aligned_32",
            "with_vla", "with_alloca", "main",
        ])

    def test_signal_frames_lead_to_what_was_interrupted(self):
        for name in ("plain", "altstack"):
            with self.subTest(name):
                chain = ["handler_work", "on_timer", "interrupted", "caller", "main"]
                samples = self.of(name, "handler_work")
                self.assert_mostly(samples, lambda s, chain=chain: own(s, chain) == chain)
                # The signal frame belongs to libc, and is a frame like any other.
                self.assert_mostly(samples, lambda s: s.names[2] != "interrupted")
        chain = ["nested_work", "on_second", "send_second", "on_timer", "interrupted", "caller", "main"]
        self.assert_mostly(self.of("nested", "nested_work"), lambda s: own(s, chain) == chain)

    def test_deep_recursion(self):
        steps = ["odd_step", "even_step"]
        expected = ["bottom", *[steps[i % 2] for i in range(1, -399, -1)], "main"]
        self.assert_leads("recursion-400", expected)

    def test_too_deep_recursion_keeps_its_leaf_end_and_says_so(self):
        samples = self.of("recursion-5000", "bottom")
        steps = ["odd_step", "even_step"]
        expected = ["bottom", *[steps[i % 2] for i in range(1, 2 - MAX_FRAMES, -1)]]
        self.assert_mostly(samples, lambda s: s.names[:-1] == expected[:len(s.names) - 1])
        # The frame with the message may or may not count as one of the walked frames.
        self.assert_mostly(samples, lambda s: MAX_FRAMES <= len(s.names) <= MAX_FRAMES + 1)
        self.assert_mostly(samples, lambda s: cut(s) == "more frames than are walked")

    def test_coroutines_end_where_they_begin(self):
        self.assert_leads("coroutine", ["coroutine_work", "coroutine_step", "coroutine"])
        # The outermost frame is a nameless one of libc, put there by makecontext().
        self.assert_mostly(
            self.of("coroutine", "coroutine_work"),
            lambda s: cut(s) is None and len(s.names) == 4 and s.names[-1].startswith("[libc.so"),
        )

    def test_longjmp(self):
        self.assert_leads("longjmp", ["jumper_1", "jumper_2", "jumper_3", "jump_target", "main"])

    def test_procedure_linkage_table(self):
        for name in PLT:
            with self.subTest(name):
                self.assert_mostly(
                    self.of(name), lambda s: own(s, ["call_tiny_functions", "main"])[-1:] == ["main"]
                )
                # Interrupts put kernel frames on top, more often on a busy host. The program also looks at the clock.
                below = [s for s in self.of(name) if s.names[0] != "call_tiny_functions"
                         and "seconds_now" not in s.names and not s.mappings[0].startswith("[kernel")]
                self.assertTrue(below)
                self.assert_mostly(below, lambda s: "call_tiny_functions" in s.names[:3], 0.98)

    def test_threads(self):
        chain = ["thread_work", "thread_middle", "thread_entry"]
        self.assert_leads("threads", chain, 0.99)
        # The two outermost frames are start_thread and clone3, under any name.
        samples = self.of("threads", "thread_work")
        self.assert_mostly(samples, lambda s: cut(s) is None and len(s.names) == len(chain) + 2, 0.99)

    def test_from_inside_the_kernel(self):
        chain = ["asker_1", "asker_2", "asker_3", "main"]
        in_kernel = [s for s in self.of("syscalls") if s.mappings[0].startswith("[kernel")]
        self.assertGreater(sum(s.count for s in in_kernel), 20)
        self.assert_mostly(in_kernel, lambda s: own(s, chain) == chain)

    def test_exceptions(self):
        in_throw = [s for s in self.of("throw") if any("thrower(int)" in name for name in s.names)]
        self.assert_mostly(in_throw, lambda s: "main" in s.names[-5:], 0.98)
        self.assertGreater(self.share(self.of("throw"), lambda s: s in in_throw), 0.5)

    def test_code_that_was_just_mapped(self):
        chain = ["plugin_work", "plugin_middle", "plugin_entry", "use_plugin", "main"]
        self.assert_leads("dlopen", chain, 0.9)

    def test_processes_that_were_just_started(self):
        self.assert_leads("vfork", ["child_work", "child_middle", "main"], 0.9)


class Shares(unittest.TestCase):
    def test_shares_60_30_10(self):
        with daemon.Daemon(hz=HZ) as server, Workload("stacks_chain") as spin:
            warm_up(server)
            profile = server.profile(f"seconds=10&pid={spin.pid}")
        total = profile.total()
        self.assertGreater(total, 10 * HZ * 0.1)
        for leaf, share in (("hot60", 60), ("hot30", 30), ("hot10", 10)):
            expected = [leaf, *LEVELS]
            found = profile.total(where=lambda s, e=expected: s.names[:len(e)] == e and whole(s))
            self.assertAlmostEqual(100 * found / total, share, delta=4, msg=leaf)
        self.assertGreaterEqual(profile.total(where=whole) / total, 0.995)
