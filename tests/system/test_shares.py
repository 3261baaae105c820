# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Workloads of known truth: the profile of a program agrees with what it did, whatever else runs."""

import re
import tempfile
import time
import unittest

import daemon
from pprof import pprof, top_shares, traces
from profile_pb import Profile, sigmas
from workload import Workload, wait_used

BESIDE = True


class Shares(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def test_shares_60_30_10(self):
        with Workload("spin60_30_10") as spin:
            # The profile is to contain neither the program's start nor the second in which it starts.
            wait_used(spin, 1)
            start = time.time()
            wait_used(spin, 6)
            answer = self.daemon.get(f"/profile?from={start:.3f}&pid={spin.pid}")
        self.assertEqual(answer.status, 200, answer.body[:200])
        profile = Profile(answer.body)
        self.assertGreater(profile.total(), 5 * daemon.HZ)

        without_main = [sample for sample in profile.samples if "main" not in sample.names]
        self.assertEqual(without_main, [])
        for leaf, share in (("hot60", 60), ("hot30", 30), ("hot10", 10)):
            found = profile.total(where=lambda sample, leaf=leaf: leaf in sample.names)
            delta = max(4, sigmas(share, profile.total()))
            self.assertAlmostEqual(100 * found / profile.total(), share, delta=delta, msg=leaf)

        # Every stack inside the chain has all of the chain, in order.
        chain = [f"level{i:02}" for i in range(12, 0, -1)] + ["main"]
        for sample in profile.samples:
            if sample.names[0].startswith("hot"):
                self.assertEqual(sample.names[1:14], chain)

        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(answer.body)
            file.flush()
            shares = top_shares(pprof("-top", file.name))
            stacks = traces(pprof("-traces", file.name))
        for leaf, share in (("hot60", 60), ("hot30", 30), ("hot10", 10)):
            delta = max(4, sigmas(share, profile.total()))
            self.assertAlmostEqual(shares[leaf][1], share, delta=delta, msg=f"{leaf} in pprof -top")
        self.assertTrue(stacks)
        self.assertEqual([stack for stack in stacks if "main" not in stack], [])

    def test_a_process_that_execs_keeps_its_programs_apart(self):
        start = time.time()
        with Workload("reexec", 2) as spin:
            spin.process.wait(120)
        time.sleep(1)
        profile = self.daemon.profile(f"from={start:.3f}&pid={spin.pid}")
        first = [s for s in profile.samples if "first_program_spins" in s.names]
        second = [s for s in profile.samples if "second_program_spins" in s.names]
        total = profile.total()
        self.assertTrue(first and second)
        for samples, comm in ((first, "reexec"), (second, "second")):
            share = sum(sample.count for sample in samples) / total
            self.assertAlmostEqual(share, 0.5, delta=0.1, msg=comm)
            self.assertEqual({sample.labels["comm"] for sample in samples}, {comm})
            self.assertEqual({sample.labels["pid"] for sample in samples}, {spin.pid})
            for sample in samples:
                path = sample.mappings[sample.names.index(f"{'first' if comm == 'reexec' else 'second'}_program_spins")]
                self.assertTrue(path.endswith("/" + comm), path)
        self.assertEqual([s for s in first if s in second], [])

    def test_cxx_names_are_demangled(self):
        with Workload("mangled") as spin:
            profile = self.daemon.profile(f"seconds=2&pid={spin.pid}")
        names = {name for sample in profile.samples for name in sample.names}
        pattern = r"outer::inner::Engine<int>::spin_template(<long>)?"
        self.assertTrue([name for name in names if re.search(pattern, name)], names)
        self.assertEqual([name for name in names if name.startswith("_Z")], [])

    def test_system_calls_show_user_and_kernel(self):
        with Workload("syscalls", 30) as spin:
            profile = self.daemon.profile(f"seconds=2&pid={spin.pid}")
            without = self.daemon.profile(f"seconds=2&pid={spin.pid}&kernel=0")
        in_kernel = [s for s in profile.samples if any("getppid" in name for name in s.names[:-1])]
        self.assertTrue(in_kernel)
        self.assertTrue(any("main" in sample.names for sample in in_kernel))
        kernel_names = {s.names[0] for s in in_kernel} - {"syscall", "main"}
        self.assertEqual(kernel_names & {n for s in without.samples for n in s.names}, set())
        self.assertGreater(without.total(), 0)
