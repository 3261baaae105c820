# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a report says beside the time: memory, disk I/O and page faults, compared with what the kernel counts."""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import BUILD, Daemon
from test_disk_io import MIB, USER
from test_faults import faults_of
from test_report import file_on_disk
from warm_up import warm_up
from workload import Workload

LANE = "figures"


def resident(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def switches_of(pid):
    """Returns how often the scheduler has switched away from the process's only thread: as it waited, as it was preempted."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
        return [int(count) for count in re.findall(r"ctxt_switches:\s*(\d+)", status.read())]


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Beside other tests, the waits of some seconds take as much as the default keeps.
        cls.server = Daemon("--waits", "yes", "--faults", "yes", "--gpu", "no", "--history-memory", "256MiB")
        cls.addClassCleanup(cls.server.stop)
        warm_up(cls.server, 5)

    def report(self, pid, begun):
        query = f"/report?pid={pid}&from={begun:.3f}&to={time.time():.3f}"
        return self.server.json(query + "&format=json")["figures"], self.server.get(query).text

    def counted(self, pids, seconds, counts_of):
        """Returns, for each process, the figures of the coming seconds, and what it has counted itself meanwhile. An interval of
        the past may be half a second longer or shorter."""
        with concurrent.futures.ThreadPoolExecutor(len(pids)) as pool:
            before = [counts_of(pid) for pid in pids]
            reports = [pool.submit(self.server.json, f"/report?pid={pid}&seconds={seconds}&format=json") for pid in pids]
            figures = [report.result()["figures"] for report in reports]
            after = [counts_of(pid) for pid in pids]
        return [(found, [now - then for now, then in zip(*counts)]) for found, *counts in zip(figures, after, before)]

    def test_memory(self):
        with Workload("hog", "120", stdin=subprocess.PIPE) as workload:
            time.sleep(2.5)
            begun, before = time.time(), resident(workload.pid)
            # The report may begin half a slice later, and slices are longer on busy CPUs.
            time.sleep(2)
            workload.process.stdin.write("\n")
            workload.process.stdin.flush()
            # It takes 32 MiB a second, and is read at least once a second.
            time.sleep(6.5)
            now = resident(workload.pid)
            figures, text = self.report(workload.pid, begun)
            points = self.server.get(f"/memory?pid={workload.pid}").text
        self.assertGreater(now, 115 * MIB)
        self.assertAlmostEqual(figures["resident_bytes"] / now, 1, delta=0.02)
        self.assertAlmostEqual(figures["resident_bytes_before"] / before, 1, delta=0.1, msg=(begun, points))
        self.assertGreater(now - before, 95 * MIB)
        self.assertRegex(text, r"(?m)^Memory: 1[12]\d\.\d\dMiB resident, \+\d\d+\.\d\dMiB since the beginning$")

    def test_memory_of_a_process_that_began_and_ended(self):
        begun = time.time()
        time.sleep(1)
        with Workload("hog", "30", stdin=subprocess.PIPE) as workload:
            time.sleep(3)
            figures, _ = self.report(workload.pid, begun)
            self.assertEqual(figures["resident_bytes_before"], 0)
            self.assertGreater(figures["resident_bytes"], 20 * MIB)
            begun = time.time()
            time.sleep(2)
        time.sleep(2)
        figures, _ = self.report(workload.pid, begun)
        self.assertGreater(figures["resident_bytes_before"], 20 * MIB)
        self.assertEqual(figures["resident_bytes"], 0)

    def test_disks(self):
        begun = time.time()
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            os.chown(folder, USER, USER)
            with Workload("disk_io", folder, stdin=subprocess.PIPE, uid=USER) as workload:
                time.sleep(2)
                workload.process.stdin.write("\n")
                workload.process.stdin.flush()
                workload.output()
            time.sleep(1.1)
            figures, text = self.report(workload.pid, begun)
        lost = self.server.metrics()["profd_ios_lost_total"]
        self.assertLess(figures["disk_read_bytes"], 1.2 * MIB)
        self.assertGreater(figures["disk_read_bytes"], (0.5 if lost else 0.99) * MIB)
        self.assertLess(figures["disk_written_bytes"], 26 * MIB)
        self.assertGreater(figures["disk_written_bytes"], (10 if lost else 15.9) * MIB)
        self.assertGreaterEqual(figures["disk_requests"] + lost, 256)
        self.assertRegex(text, r"(?m)^Disks: (1\.\d\dMiB|10\d\d\.00KiB) read, [12]\d\.\d\dMiB written, \d+ requests$")

    def test_page_faults(self):
        with file_on_disk(1) as file, Workload("page_faults", file) as workload:
            time.sleep(2)
            (figures, expected), = self.counted([workload.pid], 4, faults_of)
            _, text = self.report(workload.pid, time.time() - 4)
        for kind, count in zip(("minor_faults", "major_faults"), expected):
            self.assertAlmostEqual(figures[kind] / count, 1, delta=0.15, msg=kind)
        self.assertRegex(text, r"(?m)^Page faults: \d+ minor, \d+ major$")

    def test_switches(self):
        """Two programs want one CPU, and one of them sleeps for a moment, again and again."""
        waits = "import time\nprint('ready', flush=True)\nwhile 1:\n for _ in range(100000): pass\n time.sleep(0.005)"
        spins = "print('ready', flush=True)\nwhile 1: pass"
        on_one = {"preexec_fn": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})}
        with Workload(sys.executable, "-c", waits, **on_one) as one, Workload(sys.executable, "-c", spins, **on_one) as other:
            time.sleep(2)
            found = self.counted([one.pid, other.pid], 6, switches_of)
            texts = [self.report(workload.pid, time.time() - 4)[1] for workload in (one, other)]
        for figures, (waited, preempted) in found:
            # Where root's other programs wait as often, seconds pass without a sample of these: what is due comes later, or never.
            # test_waits.py judges counts on quiet CPUs.
            self.assertLess(figures["switches"] / (waited + preempted), 1.2)
            self.assertGreater(figures["switches"] / (waited + preempted), 0.5)
            # Which of them were preemptions only samples tell.
            self.assertAlmostEqual(figures["preemptions"] / figures["switches"], preempted / (waited + preempted), delta=0.3)
        for text in texts:
            self.assertRegex(text, r"(?m)^Scheduler: \d+ switches, \d+ of them preemptions$")

    def test_what_is_not_recorded(self):
        figures, text = self.report(os.getpid(), time.time() - 1)
        self.assertIsNone(figures["gpu_launches"])
        self.assertNotIn("GPU", text)


if __name__ == "__main__":
    unittest.main()
