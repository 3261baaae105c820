# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The tools that read profiles accept profd's answers, and read the same numbers from them as the tests' decoder."""

import gzip
import os
import re
import tempfile
import unittest

import daemon
from pprof import pprof, protoc_decode, top_shares
from profile_pb import Profile
from workload import Workload

BESIDE = True


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()
        with Workload("spin60_30_10") as spin:
            cls.answer = cls.daemon.get(f"/profile?seconds=2&pid={spin.pid}")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.file = os.path.join(cls.folder.name, "cpu.pb.gz")
        with open(cls.file, "wb") as out:
            out.write(cls.answer.body)

    def test_headers(self):
        self.assertEqual(self.answer.status, 200, self.answer.body[:200])
        self.assertEqual(self.answer.headers["Content-Type"], "application/octet-stream")
        self.assertIsNone(self.answer.headers["Content-Encoding"])

    def test_pprof_top_of_a_file(self):
        shares = top_shares(pprof("-top", self.file))
        self.assertIn("hot60", shares)
        self.assertGreaterEqual(shares["main"][1], 99.0)

    def test_pprof_top_of_a_url(self):
        with Workload("spin60_30_10"):
            output = pprof("-top", "-seconds", "2", self.daemon.url + "/profile")
        self.assertIn("hot60", top_shares(output))

    def test_pprof_top_of_go_style_url(self):
        with Workload("spin60_30_10"):
            output = pprof("-top", self.daemon.url + "/debug/pprof/profile?seconds=1")
        self.assertIn("hot60", top_shares(output))

    def test_pprof_raw_counts_as_we_do(self):
        raw = pprof("-raw", "-symbolize=none", self.file)
        profile = Profile(self.answer.body)
        self.assertRegex(raw, r"PeriodType: cpu nanoseconds")
        self.assertRegex(raw, rf"(?m)^Period: {profile.period}$")
        samples = raw[raw.index("Samples:"):raw.index("Locations")]
        counts = [int(n) for n in re.findall(r"^\s+(\d+)\s+\d+: ", samples, re.M)]
        self.assertEqual(sum(counts), profile.total())
        self.assertEqual(len(counts), len(profile.samples))

    def test_pprof_tags(self):
        tags = pprof("-tags", "-symbolize=none", self.file)
        for label in ("pid", "tid", "comm"):
            self.assertRegex(tags, rf"(?m)^\s*{label}: Total")

    def test_protoc_decodes(self):
        text = protoc_decode(gzip.decompress(self.answer.body))
        self.assertIn('"hot60"', text)
        # protoc prints a field that the published schema does not have as its bare number.
        self.assertNotRegex(text, r"(?m)^\s*\d+[: ]")

    def test_profile_is_sound(self):
        profile = Profile(self.answer.body)
        self.assertEqual(profile.types, [("samples", "count"), ("cpu", "nanoseconds")])
        self.assertEqual(profile.period_type, ("cpu", "nanoseconds"))
        self.assertAlmostEqual(profile.period, 1e9 / daemon.HZ, delta=1)
        self.assertAlmostEqual(profile.duration_ns / 1e9, 2.0, delta=0.1)
        # A sample's time is what the scheduler counted, not a number of periods; on average it is one period. Where the
        # host of a virtual machine is busy, ticks are missed, and the others have the time of these.
        for sample in profile.samples:
            self.assertGreater(sample.values[0], 0)
            self.assertGreaterEqual(sample.values[1], 0)
        self.assertAlmostEqual(profile.total(1) / profile.total(0) / profile.period, 1, delta=0.5)
        for names, _, _ in profile.locations.values():
            self.assertTrue(names and all(names), "a location without a name")
