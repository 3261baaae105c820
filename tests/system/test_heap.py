# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""/heap agrees with what the programs report of themselves: for every allocator and every call, in leaks and at peaks."""

import contextlib
import math
import tempfile
import unittest

import daemon
from heap_runs import VALUES, HeapRequest, HeapWorkload
from pprof import pprof, top_shares
from warm_up import warm_up

BESIDE = True
# Each group runs at once; a group has as many programs as profd profiles at a time.
PROGRAMS = [
    {
        "glibc": ("sites", {}),
        "jemalloc": ("sites", {"preload": "libjemalloc.so.2"}),
        "tcmalloc": ("sites", {"preload": "libtcmalloc_minimal.so.4"}),
        "static glibc": ("sites", {"name": "heap_sites-static"}),
    }, {
        "static musl": ("sites", {"name": "heap_sites-musl"}),
        "calls": ("calls", {}),
        "leak": ("leak", {}),
        "wave": ("wave", {}),
    },
]
QUERIES = {"leak": "leaks=1&rate=1KiB", "wave": "peak=1&rate=4KiB", "calls": "rate=1"}
ALLOCATORS = {"glibc": "glibc", "jemalloc": "jemalloc", "tcmalloc": "tcmalloc", "static glibc": "glibc",
              "static musl": "musl"}
SITES = ("site_six", "site_three", "site_one")


def off(samples):
    """Returns the relative tolerance of a sum of so many samples: 5 standard deviations, and the inexact ends of the interval."""
    return max(0.05, 5 / math.sqrt(max(samples, 1)) + 0.02)


class Heap(unittest.TestCase):
    """Tests of cls.profiles, which setUpClass takes, with the truth of the same time."""

    @classmethod
    def setUpClass(cls):
        cls.profiles, cls.truths, cls.bodies = {}, {}, {}
        with daemon.Daemon() as server:
            for programs in PROGRAMS:
                cls.take(server, programs)

    @classmethod
    def take(cls, server, programs):
        with contextlib.ExitStack() as stack:
            running = {}
            for key, (what, options) in programs.items():
                running[key] = stack.enter_context(HeapWorkload(what, **options))
            warm_up(server, 5)
            requests = {}
            for key, workload in running.items():
                query = QUERIES.get(key, "rate=2KiB")
                requests[key] = HeapRequest(server, f"pid={workload.pid}&seconds=5&force=1&{query}")
            for key, request in requests.items():
                cls.profiles[key] = request.heap()
                cls.bodies[key] = request.answer.body
                cls.truths[key] = running[key].truth(cls.profiles[key])
                if key == "leak":
                    cls.leaked = running[key].truth(cls.profiles[key], 0.5)["site_leak"][0]
                if key == "wave":
                    cls.peak = running[key].peak(cls.profiles[key])

    def assert_near(self, value, truth, tolerance, what):
        self.assertLessEqual(abs(value - truth), truth * tolerance, f"{what}: {value} is not {truth:.0f}")

    def assert_bytes(self, key, sites):
        """Asserts that /heap has the bytes that each site allocated and holds, within the precision of so many samples."""
        profile, truth = self.profiles[key], self.truths[key]
        total = sum(allocated for allocated, _ in truth.values())
        for site in sites:
            allocated, held = truth[site]
            samples = profile.sampled * allocated / total
            self.assert_near(profile.sum("alloc_space", site), allocated, off(samples), f"{key} {site} allocated")
            tolerance = off(samples * held / allocated)
            self.assert_near(profile.sum("inuse_space", site), held, tolerance, f"{key} {site} held")

    def test_allocators_are_named(self):
        for key, name in ALLOCATORS.items():
            with self.subTest(key):
                self.assertTrue(self.profiles[key].comment("allocator=").startswith(name), self.profiles[key].comments)

    def test_shares_are_6_3_1(self):
        for key in ALLOCATORS:
            with self.subTest(key):
                profile = self.profiles[key]
                self.assertGreater(profile.sampled, 1000)
                for value in ("alloc_space", "inuse_space"):
                    for site, share in zip(SITES, (0.6, 0.3, 0.1)):
                        self.assertAlmostEqual(profile.sum(value, site) / profile.sum(value), share, delta=0.05)

    def test_totals_are_those_of_the_programs(self):
        for key in ALLOCATORS:
            with self.subTest(key):
                profile = self.profiles[key]
                allocated, held = (sum(column) for column in zip(*self.truths[key].values()))
                # Sizes are about half the rate, so the standard deviation is smaller than that of as many coin tosses.
                self.assert_near(profile.sum("alloc_space"), allocated, off(2 * profile.sampled), "allocated")
                self.assert_near(profile.sum("inuse_space"), held, off(profile.sampled), "held")

    def test_sites_are_those_of_the_programs(self):
        for key in ALLOCATORS:
            with self.subTest(key):
                self.assert_bytes(key, SITES)

    def test_objects(self):
        profile = self.profiles["glibc"]
        for space, objects in (("alloc_space", "alloc_objects"), ("inuse_space", "inuse_objects")):
            self.assert_near(profile.sum(space) / profile.sum(objects), 1024, 0.05, "mean size")

    def test_stacks_go_from_main_to_the_site(self):
        for key, profile in self.profiles.items():
            with self.subTest(key):
                total = profile.sum("alloc_space")
                whole = profile.total(1, lambda s: "main" in s.names and s.names[0].startswith(("site_", "by_")))
                self.assertGreater(whole / total, 0.99, [s for s in profile.samples if "main" not in s.names][:3])

    def test_every_call(self):
        profile, truth = self.profiles["calls"], self.truths["calls"]
        self.assert_bytes("calls", truth)
        # The calls that failed must not count: they asked for half the address space.
        self.assertLess(profile.sum("alloc_space"), 2 * sum(allocated for allocated, _ in truth.values()))

    def test_the_leak_is_first(self):
        profile = self.profiles["leak"]
        held = {site: profile.sum("inuse_space", site) for site in (*SITES, "site_leak")}
        self.assertEqual(max(held, key=held.get), "site_leak")
        self.assertGreater(held["site_leak"] / profile.sum("inuse_space"), 0.99, held)
        self.assert_near(held["site_leak"], self.leaked, 0.1, "leaked in the first half")
        self.assertIn("leaks", profile.comment("shows="))

    def test_the_peak(self):
        profile = self.profiles["wave"]
        self.assert_near(profile.sum("inuse_space"), self.peak, 0.05, "peak")
        # alloc_space has all allocations of the time, most of which have been freed by then.
        self.assert_near(profile.sum("alloc_space"), self.truths["wave"]["site_wave"][0], 0.05, "allocated")

    def test_a_profile_says_what_it_is(self):
        for key, profile in self.profiles.items():
            with self.subTest(key):
                self.assertEqual(profile.types, list(zip(VALUES, ("count", "bytes") * 2)))
                self.assertAlmostEqual(profile.duration_ns / 1e9, 5, delta=1)
                lost = int(profile.comment("sampled=").partition("lost=")[2])
                self.assertLess(lost, profile.sampled / 100 + 1)
                self.assertIsNone(profile.comment("ended early"))
                self.assertIsNotNone(profile.comment("calls="))

    def test_go_tool_pprof_reads_each_value(self):
        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(self.bodies["glibc"])
            file.flush()
            for value in VALUES:
                with self.subTest(value):
                    shares = top_shares(pprof("-top", f"-sample_index={value}", file.name))
                    for site, share in zip(SITES, (60, 30, 10)):
                        self.assertAlmostEqual(shares[site][1], share, delta=5)
            self.assertIn("Type: inuse_space", pprof("-top", file.name))
