# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What profd exported as history answers requests for a time before that in memory, also after a restart."""

import glob
import gzip
import os
import shutil
import signal
import tempfile
import time
import unittest

import daemon
from heap_runs import until
from pprof import pprof, top_shares
from profile_pb import Profile, sigmas
from workload import Workload, workload_path

BESIDE = True
INTERVAL = 1  # seconds
SHARES = (("hot60", 60), ("hot30", 30), ("hot10", 10))


class Past(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.place = folder.name, f"{folder.name}/history"

    def start(self, *args):
        return daemon.Daemon("--export", f"history:{self.place}", "--export-interval", f"{INTERVAL}s", *args)

    def files(self, kind="cpu"):
        return sorted(glob.glob(f"{self.place}/profd-*-{kind}-*.slice.gz"))

    def wait_files(self, server, count):
        self.assertTrue(until(lambda: len(self.files()) >= count, seconds=90), server.log())

    def times(self):
        """Seconds since the epoch at which the intervals of the files begin."""
        stamps = [name.rsplit("-", 1)[1].removesuffix("Z.slice.gz") for name in self.files()]
        return [time.mktime(time.strptime(stamp[:-4], "%Y%m%dT%H%M%S")) - time.timezone + float(stamp[-4:]) for stamp in stamps]

    def total(self, profile, pid):
        return profile.total(where=lambda sample: sample.labels["pid"] == pid)

    def test_a_restart_forgets_nothing(self):
        """The program is gone, too, and with it the file that has the names."""
        program = f"{self.folder}/program"
        shutil.copy(workload_path("spin60_30_10"), program)
        with Workload(program) as spin, self.start() as server:
            self.wait_files(server, 6)
            first, *_, last = self.times()[:6]
            span = f"from={first - 0.01:.3f}&to={last - 0.01:.3f}"
            told = server.profile(f"{span}&pid={spin.pid}")
            code, _ = server.stop()
            self.assertEqual(code, 0)
        os.unlink(program)
        with self.start() as server:
            target = f"{span}&pid={spin.pid}"
            after = server.profile(target)
            self.assertEqual(self.total(after, spin.pid), self.total(told, spin.pid), (told.comments, after.comments))
            self.assertGreater(self.total(after, spin.pid), daemon.HZ)
            self.assertAlmostEqual(after.duration_ns, told.duration_ns, delta=5e6)
            self.assertEqual(sum("covers=" in comment for comment in after.comments), 1, after.comments)
            self.assertEqual({sample.labels["comm"] for sample in after.samples}, {"program"})
            path = f"{self.folder}/after.pb.gz"
            with open(path, "wb") as file:
                file.write(server.get(f"/profile?{target}").body)
            shares = top_shares(pprof("-top", path))
            count = self.total(after, spin.pid)
            for leaf, share in SHARES:
                self.assertAlmostEqual(shares.get(leaf, (0,))[0], share, delta=max(8, sigmas(share, count)))
            # Both what the daemon of before and what this one recorded.
            with Workload("spin60_30_10") as second:
                self.assertTrue(until(lambda: self.total(server.profile("last=1s"), second.pid) > 20, seconds=60))
                both = server.profile("last=5m")
            self.assertGreaterEqual(self.total(both, spin.pid), count)
            self.assertGreater(self.total(both, second.pid), 20)
            trace = server.get(f"/profile?{target}&format=perfetto")
            self.assertEqual(trace.status, 200)
            self.assertIn(b"hot60", gzip.decompress(trace.body))
            nobody = server.get(f"/profile?{span}&pid=4194303")
            self.assertEqual(nobody.status, 404, nobody.text)
            folded = server.get(f"/profile?{span}&format=folded&comm=program").text
            self.assertIn("hot60", folded)
            self.assertEqual(server.metrics()["profd_export_unreadable_total"], 0)

    def test_what_left_the_memory_is_on_the_disk(self):
        """Each sample once, also where both meet."""
        with self.start("--history", "10s") as server, Workload("spin60_30_10") as spin:
            begin, before = time.time(), spin.cpu_seconds()
            self.assertTrue(until(lambda: time.time() > begin + 25, seconds=60))
            used = spin.cpu_seconds() - before
            profile = server.profile(f"from={begin:.3f}&to={time.time():.3f}")
        self.assertAlmostEqual(profile.duration_ns, 25e9, delta=4e9)
        # A slice lies in the range or does not, and so does the time of the program that it covers.
        self.assertAlmostEqual(self.total(profile, spin.pid) / daemon.HZ / used, 1, delta=0.15)

    def test_a_time_without_profd_is_said(self):
        with self.start() as server:
            self.wait_files(server, 1)
            server.stop()
        stopped = time.time()
        time.sleep(3)
        with self.start() as server:
            answer = server.get(f"/profile?from={stopped + 0.5:.3f}&to={stopped + 2.5:.3f}")
            self.assertEqual(answer.headers["X-Profd-Incomplete"], "nothing is recorded for 2 s of this time")
            around = server.get(f"/profile?from={self.times()[0]:.3f}&to={time.time():.3f}")
            self.assertIn("nothing is recorded for", around.headers["X-Profd-Incomplete"])

    def test_a_time_before_everything_is_refused(self):
        with self.start() as server:
            self.wait_files(server, 1)
            answer = server.get("/profile?from=1000000000&to=1000000060")
            self.assertEqual(answer.status, 404)
            self.assertIn("profd keeps no samples that old; the oldest are at from=", answer.text)

    def test_files_that_are_none(self):
        with self.start() as server, Workload("spin60_30_10"):
            self.wait_files(server, 4)
            server.stop()
        files = self.files()
        with open(files[1], "r+b") as file:
            file.truncate(os.path.getsize(files[1]) // 2)
        with open(files[2], "wb") as file:
            file.write(b"\x00" * 1000)
        os.chown(files[3], 65534, 65534)
        times = self.times()
        with self.start() as server:
            target = f"/profile?from={times[0] - 0.01:.3f}&to={times[3] + 0.5:.3f}"
            answer = server.get(target)
            self.assertEqual(answer.status, 200)
            self.assertIn("3 profiles on the disk are left out", answer.headers["X-Profd-Incomplete"])
            self.assertGreater(Profile(answer.body).total(), 0, "the first file")
            self.assertEqual(server.metrics()["profd_export_unreadable_total"], 3)

    def test_a_daemon_that_was_killed(self):
        with self.start() as server, Workload("spin60_30_10") as spin:
            self.wait_files(server, 3)
            server.stop(signal.SIGKILL)
            times = self.times()
        with self.start() as server:
            profile = server.profile(f"from={times[0] - 0.01:.3f}&to={times[2] - 0.01:.3f}&pid={spin.pid}")
            self.assertGreater(self.total(profile, spin.pid), 0)
