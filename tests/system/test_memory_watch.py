# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The memory that processes hold, the processes that leak, and what profd keeps of one that runs out of memory.

All workloads run at once, so that the minutes until a leak shows are spent once.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from daemon import Daemon
from memory_group import MemoryGroup
from profile_pb import Profile
from test_clients import NOBODY
from warm_up import warm_up
from workload import Workload

LANE = "memory"
MIB = 1 << 20
LEAK_BYTES_PER_SECOND = 2 * MIB
LIMIT = 64 * MIB
NEAR_MIB = 62  # of the 64; the kernel's memory comes on top
HELD = 20 * MIB  # by a hog at rest; memory from before it joins a group is charged to another group


def rss_anon(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
        return int(re.search(r"RssAnon:\s+(\d+) kB", status.read()).group(1)) * 1024


def wait_for(what, condition, seconds=120, pause=0.25):
    """Polls until the condition is true; returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    raise AssertionError(f"{what}: not within {seconds} s")


class MemoryWatch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            cls.group = MemoryGroup(f"profd-test-{os.getpid()}", LIMIT)
            stack.callback(cls.group.remove)
            cls.tight = MemoryGroup(f"profd-test-{os.getpid()}-tight", LIMIT)
            stack.callback(cls.tight.remove)
            # With growth = yes profd looks closely at the stacks that make a program grow.
            cls.profd = stack.enter_context(Daemon("--growth", "yes"))
            cls.leak = stack.enter_context(Workload("leak"))
            cls.sawtooth = stack.enter_context(Workload("sawtooth"))
            cls.hog = stack.enter_context(Workload("hog", stdin=subprocess.PIPE))
            stack.callback(cls.hog.process.stdin.close)
            cls.resting = stack.enter_context(Workload("hog", stdin=subprocess.PIPE))
            stack.callback(cls.resting.process.stdin.close)
            cls.near = stack.enter_context(Workload("hog", NEAR_MIB, stdin=subprocess.PIPE,
                                                    preexec_fn=lambda: cls.tight.add(os.getpid())))
            stack.callback(cls.near.process.stdin.close)
            cls.group.add(cls.hog.pid)
            cls.cleanup = stack.pop_all()

    @classmethod
    def tearDownClass(cls):
        cls.cleanup.close()

    def memory(self, pid, more=""):
        """Returns what profd knows of a process, or None while it knows nothing."""
        answer = self.profd.get(f"/memory?pid={pid}{more}")
        if answer.status == 404:
            return None
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json()

    def column(self, memory, name):
        at = memory["fields"].index(name)
        return [point[at] for point in memory["points"]]

    def seconds_known(self, memory):
        times = self.column(memory, "unix_ms")
        return (times[-1] - times[0]) / 1000

    def process(self, pid):
        return next(p for p in self.profd.get("/processes").json() if p["pid"] == pid)

    def test_figures_are_those_of_proc(self):
        pid = self.resting.pid
        memory = wait_for("a timeline", lambda: self.memory(pid, "&pss=1"))
        self.assertEqual(memory["comm"], "hog")
        self.assertFalse(memory["ended"])
        self.assertIsNone(memory["growth"])
        wait_for("what it holds now",
                 lambda: abs(self.column(self.memory(pid), "rss_anon")[-1] - rss_anon(pid)) <= MIB // 4)
        self.assertGreaterEqual(self.column(self.memory(pid), "rss_anon")[-1], HELD)
        self.assertEqual(self.column(memory, "heap_inuse")[-1], None)
        # The two hogs share only a few pages of files.
        self.assertGreaterEqual(memory["pss_bytes"], HELD)
        self.assertLess(memory["pss_bytes"], HELD + 4 * MIB)
        listed = self.process(pid)
        self.assertGreaterEqual(listed["rss_bytes"], HELD)
        self.assertLess(listed["rss_bytes"], HELD + 6 * MIB)
        self.assertIsNone(listed["leak"])
        times = self.column(self.memory(pid), "unix_ms")
        self.assertEqual(times, sorted(times))
        self.assertLess(abs(times[-1] / 1000 - time.time()), 60)

    def test_leak_is_flagged_and_sawtooth_is_not(self):
        growth = wait_for("the leak", lambda: (m := self.memory(self.leak.pid)) and m["growth"], seconds=400, pause=2)
        self.assertTrue(growth["leaking"])
        self.assertEqual(growth["of"], "resident")
        self.assertAlmostEqual(growth["bytes_per_second"], LEAK_BYTES_PER_SECOND,
                               delta=LEAK_BYTES_PER_SECOND / 4)
        # The report includes the bounds of the rate.
        self.assertLessEqual(growth["low_bytes_per_second"], growth["bytes_per_second"])
        self.assertGreaterEqual(growth["high_bytes_per_second"], growth["bytes_per_second"])
        self.assertAlmostEqual(growth["low_bytes_per_second"], LEAK_BYTES_PER_SECOND, delta=LEAK_BYTES_PER_SECOND / 4)
        self.assertLess(growth["since_unix_ms"], time.time() * 1000 - 120_000)
        # profd itself, which fills its history meanwhile, is not flagged either.
        self.assertIsNone(self.memory(self.profd.pid)["growth"])
        self.assertTrue(self.process(self.leak.pid)["leak"]["leaking"])

        metrics = self.profd.metrics()
        self.assertGreaterEqual(metrics["profd_processes_leaking"], 1)
        name = f'profd_process_leak_bytes_per_second{{pid="{self.leak.pid}",comm="leak",of="resident"}}'
        self.assertAlmostEqual(metrics[name], LEAK_BYTES_PER_SECOND, delta=LEAK_BYTES_PER_SECOND / 4)

        def sawtooth():
            memory = self.memory(self.sawtooth.pid)
            self.assertIsNone(memory["growth"])
            return self.seconds_known(memory) > 35 and memory

        memory = wait_for("the saw-tooth's past", sawtooth)
        held = self.column(memory, "rss_anon")
        self.assertGreater(max(held) - min(held), 16 * MIB)  # the timeline goes up and down

    def test_growing_stacks(self):
        # The leak soon outgrows the memory from before its stacks could be walked.
        memory = wait_for("growth", lambda: (m := self.memory(self.leak.pid)) and m["growing_stacks"]
                          and m["growing_stacks"][0]["bytes"] > 32 * MIB
                          and "leaks_memory" in m["growing_stacks"][0]["frames"] and m)
        first = memory["growing_stacks"][0]
        self.assertEqual(first["kind"], "anon")
        self.assertIn("leaks_memory", first["frames"])
        self.assertLess(first["frames"].index("leaks_memory"), first["frames"].index("main"))
        self.assertLessEqual(len(memory["growing_stacks"]), 10)
        sizes = [stack["bytes"] for stack in memory["growing_stacks"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        # These stacks account for all of the memory that it holds, and for no more.
        held = self.column(memory, "rss_anon")[-1]
        self.assertAlmostEqual(sum(sizes), held, delta=0.2 * held + 2 * LEAK_BYTES_PER_SECOND)

    def test_killed_for_memory(self):
        pid = self.hog.pid
        group = wait_for("its group", lambda: (m := self.memory(pid)) and m["control_group"]
                         and m["control_group"]["limit"] == LIMIT and m["control_group"])
        self.assertTrue(self.group.path.endswith(group["path"]), group)
        self.go(self.hog)
        self.assertEqual(self.hog.process.wait(60), -signal.SIGKILL)

        kept = self.kept(pid, "killed")
        self.assertEqual(kept["comm"], "hog")
        self.assertGreater(kept["bytes"], LIMIT * 3 / 4)
        self.assertLess(kept["bytes"], LIMIT + HELD + 8 * MIB)
        self.assertLess(abs(kept["when_unix_ms"] / 1000 - time.time()), 60)

        answer = self.profd.get(f"/oom?id={kept['id']}")
        self.assertEqual(answer.status, 200)
        self.assertIn("oom", answer.headers["Content-Disposition"])
        profile = Profile(answer.body)
        hog = profile.total(1, lambda sample: "hog_takes_memory" in sample.names)
        self.assertGreater(hog, 0.9 * LIMIT)
        self.assertLess(profile.total(1), LIMIT + HELD + 8 * MIB)
        self.assertEqual({sample.labels.get("pid") for sample in profile.samples}, {pid})
        text = self.profd.get(f"/oom?id={kept['id']}&format=folded").text
        self.assertIn("hog_takes_memory", text)

        ended = wait_for("its end", lambda: (m := self.memory(pid))["ended"] and m)
        self.assertIsNone(ended["growth"])
        self.assertGreater(max(self.column(ended, "rss_anon")), HELD)
        metrics = self.profd.metrics()
        self.assertGreaterEqual(metrics["profd_memory_oom_kills_total"], 1)
        self.assertEqual(metrics["profd_memory_oom_kills_lost_total"], 0)

    def kept(self, pid, reason):
        """Returns the row of /oom for a process, once there is one."""
        return wait_for(f"keepsake of {pid}, {reason}", lambda: next(
            (k for k in self.profd.get("/oom").json() if k["pid"] == pid and k["reason"] == reason), None))

    def go(self, hog):
        """Makes a hog take memory, once profd knows it well enough to walk its stacks."""
        wait_for("a timeline", lambda: (m := self.memory(hog.pid)) and self.seconds_known(m) >= 2)
        warm_up(self.profd)
        hog.process.stdin.write("go\n")
        hog.process.stdin.flush()

    def test_close_to_its_limit(self):
        # This is one of the first tests by its name: minutes later the history of a busy host may have dropped the growth
        # with which the hog began.
        self.go(self.near)
        kept = self.kept(self.near.pid, "near limit")
        self.assertIsNone(self.near.process.poll())
        self.assertEqual(kept["comm"], "hog")
        # profd reads processes before their groups, and the process may have grown in between.
        self.assertGreater(kept["bytes"], HELD)
        self.assertLess(kept["bytes"], NEAR_MIB * MIB + 4 * MIB)
        profile = Profile(self.profd.get(f"/oom?id={kept['id']}").body)
        hog = profile.total(1, lambda sample: "hog_takes_memory" in sample.names)
        self.assertGreater(hog, 0.9 * (NEAR_MIB * MIB - HELD))
        # The total includes what the process touched as a child of the test, before exec.
        evicted = self.profd.metrics()['profd_windows_evicted_total{type="rss"}']
        self.assertGreater(profile.total(1), 0.95 * NEAR_MIB * MIB, f"{evicted} windows were evicted")
        self.assertLess(profile.total(1), 1.6 * NEAR_MIB * MIB)
        # The event is recorded once, however long the process stays near its limit.
        listed = [k for k in self.profd.get("/oom").json() if k["pid"] == self.near.pid]
        self.assertEqual(len(listed), 1)

    def test_refusals(self):
        for target, status, word in (
                ("/memory", 400, "pid="),
                ("/memory?pid=0", 400, "pid="),
                ("/memory?pid=x", 400, "pid="),
                ("/memory?pid=4194304", 404, "4194304"),
                ("/memory?pid=1&last=0s", 400, "last="),
                ("/memory?pid=1&last=11m", 400, "last="),
                ("/memory?pid=1&pss=2", 400, "pss="),
                ("/memory?pid=1&what=2", 400, "what"),
                ("/oom?id=x", 400, "id="),
                ("/oom?id=999999", 404, "999999"),
                ("/oom?format=text", 400, "format="),
                ("/oom?id=1&format=x", 400, "format=")):
            with self.subTest(target):
                answer = self.profd.get(target)
                self.assertEqual(answer.status, status, answer.text)
                self.assertIn(word, answer.text)
                self.assertEqual(answer.text.count("\n"), 1)


class ManyKilled(unittest.TestCase):
    OTHER, MANY = 54321, 300  # more than profd has room for until it reads them

    # Its children take more than their group has, one after the other, as another user. It is in no such group.
    LOSER = """
import os, sys
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        with open(sys.argv[3], "w") as procs:
            procs.write(str(os.getpid()))
        os.setgroups([])
        os.setgid(int(sys.argv[2]))
        os.setuid(int(sys.argv[2]))
        kept = bytearray(b"x") * (64 << 20)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 9
"""

    def test_a_user_leaves_room_for_the_kills_of_others(self):
        with contextlib.ExitStack() as stack:
            groups = [MemoryGroup(f"profd-test-{os.getpid()}-{name}", limit) for name, limit in (("many", 8 * MIB), ("one", LIMIT))]
            for group in groups:
                stack.callback(group.remove)
            profd = stack.enter_context(Daemon())
            one = stack.enter_context(Workload("hog", uid=self.OTHER, stdin=subprocess.PIPE))
            stack.callback(one.process.stdin.close)
            groups[1].add(one.pid)
            wait_for("a timeline", lambda: profd.get(f"/memory?pid={one.pid}").status == 200)
            os.kill(profd.pid, signal.SIGSTOP)
            try:
                subprocess.run([sys.executable, "-c", self.LOSER, str(self.MANY), str(NOBODY.pw_uid),
                                os.path.join(groups[0].path, "cgroup.procs")], check=True)
                one.process.stdin.write("go\n")
                one.process.stdin.flush()
                self.assertEqual(one.process.wait(60), -signal.SIGKILL)
            finally:
                os.kill(profd.pid, signal.SIGCONT)
            wait_for("its keepsake", lambda: one.pid in [kept["pid"] for kept in profd.json("/oom")])
            metrics = profd.metrics()
        killed, lost = (metrics[f"profd_memory_oom_{name}_total"] for name in ("kills", "kills_lost"))
        self.assertEqual(killed + lost, self.MANY + 1)
        self.assertGreater(lost, self.MANY / 4)


if __name__ == "__main__":
    unittest.main()
