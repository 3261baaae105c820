# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Profiles that profd exports to a directory: together they have what was recorded, once."""

import glob
import os
import tempfile
import unittest

import daemon
from heap_runs import until
from pprof import pprof, top_shares
from profile_pb import Profile, sigmas
from workload import Workload

BESIDE = True
INTERVAL = 2  # seconds


class Export(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def files(self, folder="profiles"):
        return sorted(glob.glob(f"{self.folder.name}/{folder}/profd-*-cpu-*.pb.gz"))

    def profiles(self, folder="profiles"):
        profiles = []
        for name in self.files(folder):
            with open(name, "rb") as file:
                profiles.append(Profile(file.read()))
        return profiles

    def start(self, folder, interval=INTERVAL):
        return daemon.Daemon("--export", f"directory:{self.folder.name}/{folder}", "--export-interval", f"{interval}s")

    def assert_gapless(self, profiles):
        for earlier, later in zip(profiles, profiles[1:]):
            self.assertAlmostEqual(earlier.time_ns + earlier.duration_ns, later.time_ns, delta=5e6)

    def test_each_sample_is_in_one_file(self):
        with Workload("spin60_30_10") as spin, self.start("profiles") as server:
            before = spin.cpu_seconds()
            # On busy CPUs the program runs for a few of its turns only.
            self.assertTrue(until(lambda: len(self.files()) >= 3 and spin.cpu_seconds() - before > 3, seconds=90), server.log())
            used = spin.cpu_seconds() - before
            files = self.files()
            profiles = self.profiles()[:len(files)]
            start_ns, end_ns = profiles[0].time_ns, profiles[-1].time_ns + profiles[-1].duration_ns
            asked = server.profile(f"from={start_ns / 1e9:.3f}&to={end_ns / 1e9:.3f}&pid={spin.pid}")
            metrics = server.metrics()
        self.assertGreaterEqual(metrics["profd_export_profiles_total"], 3)
        self.assertEqual(metrics["profd_export_failed_total"], 0)
        self.assert_gapless(profiles)
        self.assertGreater(end_ns - start_ns, 2.5e9 * INTERVAL)
        samples = [sample for profile in profiles for sample in profile.samples if sample.labels["pid"] == spin.pid]
        found = sum(sample.values[0] for sample in samples)
        self.assertEqual(found, asked.total(), "what the daemon answers for the same time")
        self.assertLess(found, 1.1 * (used + 1) * daemon.HZ)
        shares = top_shares(pprof("-top", f"-tagfocus=pid={spin.pid}", *files))
        for leaf, share in (("hot60", 60), ("hot30", 30), ("hot10", 10)):
            total = sum(sample.values[0] for sample in samples if sample.names[0] == leaf)
            self.assertAlmostEqual(100 * total / found, share, delta=max(8, sigmas(share, found)), msg=leaf)
            self.assertIn(leaf, shares)

    def test_a_place_that_is_not_there_yet(self):
        """What could not be exported is in the first file that can be written."""
        with self.start("later/profiles") as server, Workload("spin60_30_10"):
            failed = "profd_export_failed_total"
            self.assertTrue(until(lambda: server.metrics()[failed] > 0, seconds=60))
            self.assertEqual(server.log().count("cannot export cpu"), 1, server.log())
            os.mkdir(f"{self.folder.name}/later")
            self.assertTrue(until(lambda: len(self.files("later/profiles")) >= 2, seconds=60), server.log())
            profiles = self.profiles("later/profiles")
        self.assertGreater(profiles[0].duration_ns, 1.5e9 * INTERVAL)
        self.assert_gapless(profiles)

    def test_it_ends_in_the_middle(self):
        """What was recorded last is exported, too, and there are whole files only."""
        with self.start("profiles", interval=600) as server, Workload("spin60_30_10") as spin:
            self.assertTrue(until(lambda: spin.cpu_seconds() > 1, seconds=60))
            code, _ = server.stop()
            self.assertEqual(code, 0)
        profile, = self.profiles()
        self.assertGreater(profile.total(where=lambda sample: sample.labels["pid"] == spin.pid), daemon.HZ / 2)

    def test_it_ends_where_nothing_can_be_written(self):
        with self.start("later/profiles", interval=600) as server:
            server.process.terminate()
            self.assertEqual(server.process.wait(30), 0)
            self.assertEqual(server.log().count("cannot export cpu"), 1, server.log())
