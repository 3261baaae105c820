# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Growth of resident memory and of the address space, by bytes, by stack and by kind of memory."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import daemon
from heap_runs import until
from pprof import pprof, top_shares
from warm_up import warm_up
from workload import Workload

MIB = 1 << 20
BYTES = 1  # the index of the value in bytes
# They grow one group after the other: all processes of the host together get a burst of 2000 samples of resident memory, and what
# is put off at the end of a program's growth is not seen.
GROUPS = (("anon", "huge", "mmap", "storm", "python"), ("shared", "file"), ("refill",))
SHARES = (("grow60", 60), ("grow30", 30), ("grow10", 10))

# settle() takes the samples that were put off when the interpreter started, as that of the workload in C does.
PYTHON = """
import sys, time
def settle(): return [bytearray(1 << 18) for _ in range(8)]
def eats_sixty(): return [bytearray(1 << 20) for _ in range(60)]
def eats_twenty(): return [bytearray(1 << 20) for _ in range(20)]
print("ready", flush=True)
sys.stdin.readline()
kept = settle(), eats_sixty(), eats_twenty()
print("done", flush=True)
time.sleep(600)
"""


def resident(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def is_growth(sample):
    return "main" in sample.names and "settle" not in sample.names


class MemoryGrowth(unittest.TestCase):
    """Each mode in its own process."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()
        with contextlib.ExitStack() as stack:
            commands = {mode: ("memory_growth", mode) for group in GROUPS for mode in group}
            commands["python"] = (sys.executable, "-c", PYTHON)
            cls.start = time.time()
            cls.running = {
                name: stack.enter_context(Workload(*command, cwd=daemon.BUILD, stdin=subprocess.PIPE))
                for name, command in commands.items()
            }
            for workload in cls.running.values():
                stack.enter_context(workload.process.stdin)
            # The programs grow as soon as their stacks can be walked.
            warm_up(cls.daemon)
            cls.before = cls.daemon.metrics()
            cls.said = {}
            for group in GROUPS:
                for name in group:
                    cls.running[name].process.stdin.write("go\n")
                    cls.running[name].process.stdin.flush()
                cls.said.update((name, cls.running[name].process.stdout.readline()) for name in group)
            cls.addClassCleanup(stack.pop_all().close)

    def query(self, name, kind):
        return f"from={self.start:.3f}&pid={self.running[name].pid}&type={kind}"

    def profile_of(self, mode, kind):
        """Returns the profile of a mode of memory_growth, and the bytes of growth that the program reports."""
        return self.daemon.profile(self.query(mode, kind)), int(self.said[mode])

    def assert_grew(self, profile, truth, samples=None):
        """Asserts the sum, and the shares within five sigma for so many samples of about the same weight."""
        grown = profile.total(BYTES, is_growth)
        self.assertAlmostEqual(grown / truth, 1.0, delta=0.05)
        for name, share in SHARES:
            found = profile.total(BYTES, lambda sample, name=name: name in sample.names)
            sigma = math.sqrt(share * (100 - share) / (samples or profile.total()))
            self.assertAlmostEqual(100 * found / grown, share, delta=5 * sigma, msg=name)

    def assert_memory(self, profile, kind):
        growing = [sample for sample in profile.samples if is_growth(sample)]
        of_kind = sum(sample.values[BYTES] for sample in growing if sample.labels["memory"] == kind)
        self.assertGreater(of_kind / sum(sample.values[BYTES] for sample in growing), 0.95)

    def test_first_touches_count_by_bytes_and_stack(self):
        profile, truth = self.profile_of("anon", "rss")
        self.assertEqual(profile.types, [("samples", "count"), ("resident", "bytes")])
        self.assertEqual((profile.period_type, profile.period), (("resident", "bytes"), 256 << 10))
        self.assert_grew(profile, truth)
        self.assert_memory(profile, "anon")

    def test_memory_that_comes_back_is_growth_again(self):
        profile, truth = self.profile_of("refill", "rss")
        self.assert_grew(profile, truth)

    def test_huge_pages_count_as_what_they_are(self):
        profile, truth = self.profile_of("huge", "rss")
        self.assert_grew(profile, truth)

    def test_shared_memory_and_files_are_told_apart(self):
        for mode in ("shared", "file"):
            with self.subTest(mode):
                profile, truth = self.profile_of(mode, "rss")
                self.assert_grew(profile, truth)
                self.assert_memory(profile, mode)

    def test_mappings_count_as_what_was_asked_for(self):
        profile, truth = self.profile_of("mmap", "mmap")
        self.assertEqual(profile.types, [("samples", "count"), ("mapped", "bytes")])
        self.assert_grew(profile, truth)

    def test_a_storm_of_mappings_is_thinned_and_adds_up(self):
        profile, truth = self.profile_of("storm", "mmap")
        # After every 200 samples a sample stands for twice the bytes, so all together tell as much as some 500 equal ones.
        self.assert_grew(profile, truth, samples=500)
        self.assertLess(profile.total(), truth / (2 * MIB) / 2)
        after = self.daemon.metrics()
        self.assertEqual(after["profd_tallies_lost_total"], self.before["profd_tallies_lost_total"])

    def test_python_functions_grow(self):
        self.assertEqual(self.said["python"], "done\n")
        profile = self.daemon.profile(self.query("python", "rss"))
        for name, mib in (("eats_sixty", 60), ("eats_twenty", 20)):
            found = profile.total(BYTES, lambda sample, name=name: name in sample.names)
            self.assertAlmostEqual(found / MIB, mib, delta=4, msg=name)

    def test_readers_take_it(self):
        query = "/profile?" + self.query("anon", "rss")
        answer = self.daemon.get(query)
        text = self.daemon.get(query + "&format=text").text
        folded = self.daemon.get(query + "&format=folded").text
        self.assertIn("-rss.pb.gz", answer.headers["Content-Disposition"])
        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(answer.body)
            file.flush()
            top = pprof("-top", file.name)
        self.assertIn("Type: resident", top)
        self.assertAlmostEqual(top_shares(top)["grow60"][1], 60, delta=10)
        self.assertRegex(text, r"Total = 1\d\d\.\d\dMiB\n")
        weights = [int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()]
        self.assertGreater(sum(weights), 120 * MIB)


class Vast(unittest.TestCase):
    """What is mapped and unmapped in a loop adds up to more than numbers can hold."""

    FULL = 1 << 52  # a sum in the kernel half grows up to here, and by one mapping

    def test_sums_stay_within_their_bound(self):
        with daemon.Daemon("--growth=yes") as own:
            start = time.time()
            with Workload("memory_growth", "vast", stdin=subprocess.PIPE) as vast, vast.process.stdin:
                warm_up(own)
                vast.process.stdin.write("go\n")
                vast.process.stdin.flush()
                said = int(vast.process.stdout.readline())
                end = time.time()
                query = f"pid={vast.pid}&type=mmap"
                profile = own.profile(f"from={start:.3f}&{query}")
                # Where a sum is full samples are taken all the same.
                last = own.profile(f"from={end - 0.3:.3f}&to={end:.3f}&{query}")
        self.assertGreater(said, 1 << 63)
        values = [sample.values[BYTES] for sample in profile.samples]
        # Each of the functions has a sum in each half that was drained.
        most = 2 * self.FULL * (end - start + 5) * 4
        self.assertGreaterEqual(min(values), 0)
        self.assertGreater(max(values), self.FULL // 2)
        self.assertLess(sum(values), most)
        self.assertGreater(last.total(BYTES), self.FULL // 2)


class Kinds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def test_a_type_that_is_none_is_refused_with_those_that_are(self):
        answer = self.daemon.get("/profile?last=5s&type=gold")
        self.assertEqual(answer.status, 400)
        self.assertIn("bad type=gold: one of cpu, rss, mmap", answer.text)
        answer = self.daemon.get("/profile?last=5s&type=rss&idle=1")
        self.assertEqual(answer.status, 400)
        self.assertIn("idle=1 requires type=cpu", answer.text)

    def test_status_and_metrics_tell_of_each_kind(self):
        status = self.daemon.get("/status").json()
        kinds = [source["name"] for source in status["sources"]]
        self.assertEqual(kinds[:3], ["cpu", "rss", "mmap"])
        metrics = self.daemon.metrics()
        later = self.daemon.get("/status").json()["sources"]
        for source, after in zip(status["sources"], later):
            kind = source["name"]
            # The kinds about GPUs are off, with the reason, while no process has CUDA's driver; one is off by default.
            self.assertTrue(source["on"] or kind.startswith("gpu_") or kind in ("fault", "offcpu", "waker", "block"), source)
            self.assertEqual(source["why"] == "", source["on"], source)
            self.assertGreater(status["recorder"][kind]["bytes_max"], 0)
            # The last process with the driver may have ended between the two requests.
            if source["on"] == after["on"]:
                self.assertEqual(metrics[f'profd_source_on{{type="{kind}"}}'], int(source["on"]))
            self.assertIn(f'profd_history_bytes{{type="{kind}"}}', metrics)

    def test_a_time_without_growth_is_a_profile_with_the_same_types(self):
        profile = self.daemon.profile("last=1s&tid=4194303&type=mmap")
        self.assertEqual(profile.types, [("samples", "count"), ("mapped", "bytes")])
        self.assertEqual(profile.samples, [])


class HeardOfLate(unittest.TestCase):
    MOST = 62  # MiB

    def test_what_a_program_took_before_counts(self):
        """A daemon that gets no CPU time learns of a program three seconds late, when the program holds a third of its memory."""
        with daemon.Daemon("--growth=yes") as own:
            start = time.time()
            os.kill(own.pid, signal.SIGSTOP)
            try:
                hog = Workload("hog", self.MOST, stdin=subprocess.PIPE)
                self.addCleanup(hog.__exit__)
                self.addCleanup(hog.process.stdin.close)
                time.sleep(3)
            finally:
                os.kill(own.pid, signal.SIGCONT)
            self.assertTrue(until(lambda: own.get(f"/memory?pid={hog.pid}").status == 200))
            hog.process.stdin.write("go\n")
            hog.process.stdin.flush()
            self.assertTrue(until(lambda: resident(hog.pid) > self.MOST * MIB))
            profile = own.profile(f"from={start:.3f}&pid={hog.pid}&type=rss")
        self.assertGreater(profile.total(BYTES), 0.95 * self.MOST * MIB)
        self.assertLess(profile.total(BYTES), 1.6 * self.MOST * MIB)


class Wanted(unittest.TestCase):
    """Values of growth= other than yes, which the shared daemon has."""

    def sources(self, *options):
        with daemon.Daemon(*options) as own:
            status = own.json("/status")
            programs = set(own.bpf_names("prog").values())
            return {source["name"]: source for source in status["sources"]}, programs

    def test_auto_leaves_out_what_has_a_price(self):
        sources, _ = self.sources()
        self.assertTrue(sources["rss"]["on"], sources["rss"])
        self.assertFalse(sources["mmap"]["on"])
        self.assertIn("growth = yes records it", sources["mmap"]["why"])

    def test_no_loads_nothing(self):
        sources, programs = self.sources("--growth", "no")
        for kind in ("rss", "mmap"):
            self.assertFalse(sources[kind]["on"])
            self.assertEqual(sources[kind]["why"], "switched off by growth = no")
        self.assertFalse([name for name in programs if name.startswith(("resident_", "address_space"))], programs)

    def test_auto_adds_up(self):
        """growth = auto looks at a stack once in up to 8 MiB, or at a tick, so the test is of the sum and not of the shares."""
        left = 64 * MIB  # not seen until the next look: pages that others have freed, touched within a few ticks
        with daemon.Daemon() as own:
            start = time.time()
            with Workload("memory_growth", "anon", cwd=daemon.BUILD, stdin=subprocess.PIPE) as workload, workload.process.stdin:
                warm_up(own)
                workload.process.stdin.write("go\n")
                workload.process.stdin.flush()
                truth = int(workload.process.stdout.readline())
                profile = own.profile(f"from={start:.3f}&pid={workload.pid}&type=rss")
        grown = profile.total(BYTES, is_growth)
        self.assertGreater(grown, truth - left)
        self.assertLess(grown, truth + 8 * MIB)
