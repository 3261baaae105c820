# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Waits: a program of known schedule, the sums of the kernel, waits that have not ended, and storms of short waits."""

import ctypes
import os
import platform
import re
import subprocess
import sys
import time
import unittest

from daemon import Daemon
from pythons import script, system_python
from test_waits_python import convoy_shares, sleeps_and_computes
from warm_up import warm_up
from workload import Workload

SCHEDULE = {"sleeps": (0.150, "sleep", "nanosleep"), "reads": (0.100, "sleep", "read"), "locks": (0.050, "sleep", "futex")}
SECONDS = 5


def schedstat(pid):
    """Returns {tid: seconds of CPU time and of waiting for a CPU}."""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as file:
            found[int(tid)] = [int(word) / 1e9 for word in file.read().split()[:2]]
    return found


class Waits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Daemon("--waits", "yes") as server, Workload("waits") as workload:
            warm_up(server, 5)
            cls.pid, before, began = workload.pid, schedstat(workload.pid), time.monotonic()
            cls.profile = server.profile(f"type=offcpu&seconds={SECONDS}&pid={workload.pid}")
            cls.elapsed, after = time.monotonic() - began, schedstat(workload.pid)
            cls.walls = [server.profile(f"type=wall&{span}&pid={workload.pid}") for span in ("seconds=3", f"last={SECONDS}s")]
            cls.ran = {tid: [a - b for a, b in zip(after[tid], before[tid])] for tid in before}
            now = time.time()  # these are compared with each other
            past = f"from={now - SECONDS:.3f}&to={now:.3f}&pid={workload.pid}"
            cls.wakers = server.profile(f"type=waker&{past}")
            cls.locks = [server.profile(f"type=lock&{past}{more}") for more in ("", "&waiting_for_work=1")]
            cls.last = server.profile(f"type=offcpu&{past}")
            cls.text = server.get(f"/profile?type=offcpu&last={SECONDS}s&pid={workload.pid}&format=text").text
            cls.metrics = server.metrics()

    def seconds(self, profile, where):
        return profile.total(1, where) / 1e9

    def assert_schedule(self, profile):
        of_main = [s for s in profile.samples if s.labels.get("tid") == self.pid]
        sums = {name: self.seconds(profile, lambda s, n=name: s.labels.get("tid") == self.pid and n in s.names)
                for name in SCHEDULE}
        whole = sum(seconds for seconds, _, _ in SCHEDULE.values())
        for name, (seconds, state, call) in SCHEDULE.items():
            # The interval may begin and end anywhere in a round.
            self.assertAlmostEqual(sums[name] / sum(sums.values()), seconds / whole, delta=0.04, msg=sums)
            labels = {(s.labels["state"], s.labels.get("wait")) for s in of_main
                      if name in s.names and s.labels["state"] != "runnable"}
            self.assertEqual(labels, {(state, call)})

    def test_by_function(self):
        self.assert_schedule(self.profile)

    def waker_of(self, function):
        """Returns the names that are on all stacks that ended its waits in the main thread, and the time that these took, and that
        of waits whose waker was not sampled: where a user's threads wake others too often, the stacks of some are left out."""
        names, seconds, unseen = None, 0, 0
        for sample in self.wakers.samples:
            at = sample.names.index("[wakes]")  # the leaf is first
            if sample.labels["tid"] != self.pid or function not in sample.names[:at]:
                continue
            seconds += sample.values[1] / 1e9
            if "[unknown: not sampled]" in sample.names[at:]:
                unseen += sample.values[1] / 1e9
            else:
                names = set(sample.names[at:]) & (set(sample.names[at:]) if names is None else names)
        return names, seconds, unseen

    def test_who_ended_them(self):
        """The mutex's holder, and who wrote to the pipe."""
        waits = {name: self.seconds(self.last, lambda s, n=name: s.labels["tid"] == self.pid and n in s.names and s.labels["state"] == "sleep")
                 for name in SCHEDULE}
        for function, expected in (("locks", ("[woken by waits]", "help", "futex_wake")), ("reads", ("[woken by waits]", "help", "put")),
                                   ("sleeps", ("[woken in an interrupt]", "hrtimer_wakeup"))):
            names, seconds, unseen = self.waker_of(function)
            self.assertTrue(set(expected) <= names, (function, names))
            self.assertLess(unseen / seconds, 0.3)
            # A wait counts as a whole when it ends, and the interval may begin and end within one.
            self.assertAlmostEqual(seconds, waits[function], delta=2 * SCHEDULE[function][0], msg=function)

    def test_which_lock(self):
        """By the name of its variable; conditions only where they are asked for."""
        without, with_conditions = self.locks
        self.assertEqual([value[0] for value in without.types], ["waits", "lock"])
        size = ctypes.sizeof(ctypes.c_long) * (6 if platform.machine() == "aarch64" else 5)  # of a mutex
        self.assertEqual({s.names[0] for s in without.samples}, {f"[lock locked+{2 * size:#x}]"})
        self.assertIn("locks", set.intersection(*(set(s.names) for s in without.samples)))
        waited = self.seconds(self.last, lambda s: "locks" in s.names and s.labels["state"] == "sleep")
        self.assertAlmostEqual(self.seconds(without, lambda s: True), waited, delta=2 * SCHEDULE["locks"][0])
        conditions = [s for s in with_conditions.samples if s.labels["thread"] == "blocked"]
        self.assertEqual({re.sub(r"\+0x[0-9a-f]+", "", s.names[0]) for s in conditions}, {"[lock condition]"})
        # Other kinds do not show it.
        self.assertFalse(any("[lock" in name for s in self.last.samples for name in s.names))

    def test_in_the_past(self):
        self.assert_schedule(self.last)

    def test_sums_are_those_of_the_kernel(self):
        """What a thread did not run it waited; the schedule was read a moment before and after."""
        covered = self.profile.duration_ns / 1e9
        for tid, (ran, delayed) in self.ran.items():
            waited = self.seconds(self.profile, lambda s, t=tid: s.labels.get("tid") == t)
            self.assertAlmostEqual(waited, covered - ran, delta=0.01 * covered + self.elapsed - covered, msg=tid)
            runnable = self.seconds(self.profile, lambda s, t=tid: s.labels.get("tid") == t and s.labels["state"] == "runnable")
            self.assertAlmostEqual(runnable, delayed, delta=0.01 * covered + 0.3 * delayed, msg=tid)

    def test_a_thread_that_never_wakes(self):
        for profile in (self.profile, self.last):
            blocked = [s for s in profile.samples if s.labels.get("thread") == "blocked"]
            self.assertEqual({(s.labels["state"], s.labels["wait"]) for s in blocked}, {("sleep", "futex")})
            waited = sum(s.values[1] for s in blocked) / profile.duration_ns
            # A wait that lasts for long is accounted for every four seconds unless a reader wants the boundary.
            self.assertAlmostEqual(waited, 1, delta=0.01 if profile is self.profile else 0.7)

    def test_the_past_has_as_much(self):
        """`last` ends a moment after the other profile, and begins at the end of a slice."""
        shares = [self.seconds(profile, lambda s: s.labels.get("tid") == self.pid) * 1e9 / profile.duration_ns
                  for profile in (self.profile, self.last)]
        self.assertAlmostEqual(shares[0], shares[1], delta=0.1)

    def test_time_on_a_cpu_and_waits_are_all_time(self):
        # A boundary in the past may come a moment after or before that at which the daemon went through all threads; then the
        # wait at that boundary, of at most 150 ms, counts in one piece.
        for wall, tids, delta in zip(self.walls, (self.ran, [self.pid]), (0.01, 0.01 + 0.150 / SECONDS)):
            self.assertEqual([value[0] for value in wall.types], ["events", "wall"])
            # In the past, long waits are accounted for now and then: see below.
            for tid in tids:
                states = {s.labels["state"] for s in wall.samples if s.labels["tid"] == tid}
                total = wall.total(1, lambda s, t=tid: s.labels["tid"] == t)
                self.assertAlmostEqual(total / wall.duration_ns, 1, delta=delta, msg=(tid, states))
            of_main = [s for s in wall.samples if s.labels["tid"] == self.pid]
            running = sum(s.values[1] for s in of_main if s.labels["state"] == "running")
            # computes() takes 20 of some 320 ms, and its ticks are sampled.
            self.assertAlmostEqual(running / wall.duration_ns, 20 / 320, delta=0.03)
            self.assertIn("computes", {name for s in of_main if s.labels["state"] == "running" for name in s.names})

    def test_it_is_described(self):
        self.assertIn("Waits: ", self.text)
        self.assertRegex(self.text, r"(?m)^States: sleep [\d.]+ % \(.*nanosleep [\d.]+ %")
        self.assertEqual(self.metrics["profd_waits_lost_total"], 0)


class Runnable(unittest.TestCase):
    def test_two_that_want_one_cpu(self):
        cpu = min(os.sched_getaffinity(0))
        with Daemon("--waits", "yes") as server:
            spins = [subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                      preexec_fn=lambda: os.sched_setaffinity(0, {cpu})) for _ in range(2)]
            try:
                time.sleep(1)
                before = [schedstat(spin.pid)[spin.pid] for spin in spins]
                profile = server.profile("type=offcpu&seconds=4&" + "&".join(f"pid={spin.pid}" for spin in spins))
                after = [schedstat(spin.pid)[spin.pid] for spin in spins]
            finally:
                for spin in spins:
                    spin.kill()
                    spin.wait()
        for spin, then, now in zip(spins, before, after):
            delayed = now[1] - then[1]
            found = profile.total(1, lambda s, p=spin.pid: s.labels["pid"] == p and s.labels["state"] == "runnable") / 1e9
            self.assertGreater(delayed, 1)
            self.assertAlmostEqual(found, delayed, delta=0.15 * delayed + 0.2)


class Boundaries(unittest.TestCase):
    def test_a_thread_that_runs_or_sleeps_at_one(self):
        with sleeps_and_computes() as (server, pid):
            walls = [server.profile(f"type=wall&seconds=1&pid={pid}&tid={pid}") for _ in range(6)]
        for wall in walls:
            self.assertAlmostEqual(wall.total(1) / wall.duration_ns, 1, delta=0.03)


class Storm(unittest.TestCase):
    def switches(self, pid):
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
            return sum(int(count) for count in re.findall(r"ctxt_switches:\s+(\d+)", status.read()))

    def test_sums_of_a_storm(self):
        """Two processes wait for each other 100,000 times a second."""
        with Daemon("--waits", "yes") as server, Workload("pingpong", 60) as pingpong:
            warm_up(server, 5)
            before, switches = schedstat(pingpong.pid)[pingpong.pid], -self.switches(pingpong.pid)
            profile = server.profile(f"type=offcpu&seconds=4&pid={pingpong.pid}")
            after, switches = schedstat(pingpong.pid)[pingpong.pid], switches + self.switches(pingpong.pid)
            metrics = server.metrics()
        waited = profile.total(1) / profile.duration_ns
        ran = (after[0] - before[0]) / (profile.duration_ns / 1e9)
        # The time of the last waits of a slice that are not sampled is part of the next.
        self.assertAlmostEqual(waited, 1 - ran, delta=0.05)
        self.assertGreater(switches, 20000)
        self.assertAlmostEqual(profile.total(0) / switches, 1, delta=0.1)
        self.assertEqual(metrics["profd_waits_lost_total"], 0)


class Glue(unittest.TestCase):
    def test_programs_of_others_at_the_same_tracepoint(self):
        """With two programs at a tracepoint the kernel calls them from another function."""
        with Daemon("--waits", "yes") as server, Daemon("--waits", "yes") as other, Workload("bounds", "pipe") as workload:
            for daemon in (server, other):
                warm_up(daemon, 5)
            time.sleep(1)
            alone = f"seconds=1&children=1&pid={workload.pid}"
            waits, wakers = server.profile(f"type=offcpu&{alone}"), server.profile(f"type=waker&{alone}")
        reads = waits.total(1, lambda s: s.labels.get("wait") == "read")
        self.assertGreater(waits.total(1, lambda s: "pipe_read" in s.names[0]) / reads, 0.95)
        woken = wakers.total(1, lambda s: "anon_pipe_write" in s.names or "pipe_write" in s.names)
        self.assertGreater(woken / wakers.total(1), 0.5)
        for name in {name for profile in (waits, wakers) for sample in profile.samples for name in sample.names}:
            self.assertNotRegex(name, "^(bpf_|__bpf_|__traceiter_|__schedule$|schedule$)")


class Gil(unittest.TestCase):
    def test_two_that_want_it(self):
        """Of two threads of pure Python one has the GIL at each moment, unless the main thread does, which hashes."""
        with Daemon("--waits", "yes") as server, Workload(system_python().path, script("convoy")) as convoy:
            warm_up(server, 5)
            time.sleep(1)
            wall = server.profile(f"type=wall&seconds=4&pid={convoy.pid}")
            locks = server.profile(f"type=lock&last=4s&pid={convoy.pid}")
            rows = {row["pid"]: row["gil"] for row in server.json("/processes")}
            table = server.get("/processes?format=text").text
        spinning, hashing = convoy_shares(wall, convoy.pid)
        self.assertAlmostEqual(spinning["held"], 1, delta=0.12, msg=spinning)
        self.assertAlmostEqual(spinning["waiting"], 1, delta=0.16, msg=spinning)
        self.assertGreater(hashing["released"], 0.75, hashing)
        self.assertLess(hashing["held"], 0.05, hashing)
        # The last minute began before the program.
        gil = rows[convoy.pid]
        # Of three threads one has it, and each other wants it or hashes.
        self.assertAlmostEqual((gil["wanted"] + gil["runs_without"]) / gil["held"], 2, delta=0.2, msg=gil)
        self.assertGreater(gil["wanted"] / gil["held"], 0.9, gil)
        self.assertGreater(gil["runs_without"] / gil["held"], 0.7, gil)
        self.assertIsNone(rows[server.process.pid])
        shown = re.search(rf"(?m)^ *{convoy.pid} +[\d.]+ +(\d+) ", table)
        self.assertAlmostEqual(int(shown.group(1)), 100 * gil["held"], delta=5)
        of_gil = locks.total(1, lambda s: s.names[0] == "[lock GIL]" and s.labels["gil"] == "waiting")
        self.assertGreater(of_gil / locks.total(1), 0.95)
        # A thread that has been woken to take it wants a CPU before.
        for_cpu = wall.total(1, lambda s: s.labels["state"] == "runnable" and s.labels.get("gil") == "waiting")
        self.assertAlmostEqual(of_gil / locks.duration_ns + for_cpu / wall.duration_ns,
                               spinning["waiting"] + hashing["waiting"], delta=0.15)


class Off(unittest.TestCase):
    def test_it_says_so(self):
        with Daemon() as server:
            source = next(s for s in server.get("/status").json()["sources"] if s["name"] == "offcpu")
            self.assertEqual((source["on"], source["why"]), (False, "switched off by waits = no"))
            text = server.get("/profile?type=offcpu&last=1s&format=text").text
        self.assertIn("offcpu is off: switched off by waits = no", text)


if __name__ == "__main__":
    unittest.main()
