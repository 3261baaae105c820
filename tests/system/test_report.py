# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a program is bound by: verdicts on programs of known nature."""

import contextlib
import os
import re
import sys
import tempfile
import time
import unittest

from daemon import BUILD, CPUS, Daemon
from pythons import script, system_python
from warm_up import warm_up
from workload import Workload

# What /report has to say of each kind of tests/workloads/bounds.c, and of turns.py; and a function among those that it names.
VERDICTS = {
    "spin": ("cpu", "computes"),
    "chase": ("cpu", "follows"),
    "faults": ("faults", "touches"),
    "disk": ("disk", "reads"),
    "network": ("network", "exchange"),
    "pipe": ("process", "exchange"),
    "mutex": ("lock", "holds"),
    "crowd": ("contended_cpu", "computes"),
    "turns": ("gil", "spins"),
    "sleep": ("sleep", "sleeps"),
    "idle": ("nothing", ""),
}


# Some run at the same time, if they do not need more than two CPUs.
TOGETHER = (("spin", "chase"), ("turns", "sleep", "idle"), ("faults", "disk"), ("mutex",), ("network",), ("pipe",), ("crowd",))


@contextlib.contextmanager
def file_on_disk(mib):
    with tempfile.NamedTemporaryFile(dir=BUILD) as file:
        for _ in range(mib):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        yield file.name


def started(kind, stack):
    if kind == "turns":
        return stack.enter_context(Workload(system_python().path, script(kind)))
    arguments = [stack.enter_context(file_on_disk(64))] if kind == "disk" else []
    return stack.enter_context(Workload("bounds", kind, *arguments))


class Verdicts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reports, cls.texts = {}, {}
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.server = stack.enter_context(Daemon("--waits", "yes"))
        warm_up(cls.server, 5)
        for kinds in TOGETHER:
            with contextlib.ExitStack() as running:
                pids = {kind: started(kind, running).pid for kind in kinds}
                time.sleep(2.7)
                for kind, pid in pids.items():
                    query = f"/report?pid={pid}&children=1&last=2s"
                    cls.texts[kind] = cls.server.get(query).text
                    cls.reports[kind] = cls.server.json(query + "&format=json")
        cls.everybody = cls.server.get("/report?last=3s")
        if os.environ.get("FIGURES"):
            print(*cls.texts.values(), cls.everybody.text, sep="\n", file=sys.stderr)

    def test_verdicts(self):
        for kind, (bound, function) in VERDICTS.items():
            with self.subTest(kind):
                report = self.reports[kind]
                self.assertEqual((report["bound_by"], report["enough_samples"]), (bound, True), report)
                # Whose part is large is said, and nothing is missing.
                if function:
                    self.assertIn(function, report["places"][0]["stack"], report)
                    self.assertGreater(report["places"][0]["share"], report["share"] / 4, report)
                shares = sum(activity["share"] for activity in report["activities"].values())
                self.assertAlmostEqual(shares, 1 if report["activities"] else 0, delta=0.001, msg=report)

    def test_threads_that_only_wait_for_work_are_left_out(self):
        report = self.reports["spin"]
        self.assertEqual((report["threads"], report["idle_threads"]), (4, 3), report)
        self.assertGreater(report["places"][0]["share"], 0.9, report)
        self.assertAlmostEqual(report["cpus"], 1, delta=0.15)
        idle = self.reports["idle"]
        self.assertAlmostEqual(idle["waiting_for_work_seconds"], 4 * idle["seconds"], delta=0.3, msg=idle)

    def test_shares(self):
        """Of four threads that want a CPU or a mutex, or two that want the GIL."""
        for kind, activity, low, high in (
                ("crowd", "runnable", 0.65, 0.85), ("mutex", "lock", 0.4, 0.85), ("turns", "gil", 0.4, 0.6), ("sleep", "sleep", 0.9, 1)):
            share = self.reports[kind]["activities"][activity]["share"]
            self.assertTrue(low <= share <= high, self.reports[kind])
        self.assertAlmostEqual(self.reports["crowd"]["cpus"], CPUS, delta=0.15 * CPUS)

    def test_as_a_text(self):
        text = self.texts["mutex"]
        self.assertRegex(text, r"\ABound by locks: other threads hold them, [\d.]+ % of the working time\n")
        self.assertRegex(text, r"(?m)^ +[\d.]+ % +waits for a lock$")
        self.assertRegex(text, r"(?m)^ +[\d.]+ % +[\d.]+x  \[lock mutex\] < .*holds < convoys")
        self.assertRegex(self.texts["turns"], r"(?m)^ +[\d.]+ % +[\d.]+x  .*spins < ")
        self.assertEqual(self.everybody.status, 200)

    def test_waiting_for_work_can_be_left_out(self):
        """Three threads wait for work, and one computes, so all time is four times as long as the profile."""
        with Workload("bounds", "spin") as workload:
            time.sleep(3)
            for kind, threads in (("wall", 4), ("offcpu", 3)):
                for hidden in ("", "&kernel=0", "&native=0"):
                    profile = self.server.profile(f"type={kind}&last=2s&pid={workload.pid}&waiting_for_work=0{hidden}")
                    found = [re.fullmatch(r"waiting for work left out: ([\d.]+) s", comment) for comment in profile.comments]
                    left_out = next(float(match.group(1)) for match in found if match)
                    kept, seconds = profile.total(1) / 1e9, profile.duration_ns / 1e9
                    self.assertAlmostEqual(left_out / seconds, 3, delta=0.1)
                    self.assertAlmostEqual((left_out + kept) / seconds, threads, delta=0.15)

    def test_what_is_refused(self):
        for query, status, words in (
                ("pid=1&format=pprof", 400, "text or json"),
                ("pid=0", 400, "pid=0"),
                ("last=never", 400, "last="),
                ("type=cpu", 400, "type"),
                ("pid=4194000", 404, "4194000")):
            answer = self.server.get("/report?" + query)
            self.assertEqual(answer.status, status, answer.text)
            self.assertIn(words, answer.text)
            self.assertEqual(answer.text.count("\n"), 1)


class Off(unittest.TestCase):
    def test_it_says_so(self):
        with Daemon() as server:
            answer = server.get(f"/report?pid={os.getpid()}&last=1s")
        self.assertEqual(answer.status, 404)
        self.assertIn("waits = no", answer.text)


if __name__ == "__main__":
    unittest.main()
