# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""profd's report of its own cost agrees with the kernel's figures of its processes, programs and maps."""

import contextlib
import ctypes
import os
import re
import signal
import tempfile
import time
import unittest

import daemon
import elf_file
from memory_group import MemoryGroup
from proc_files import children, fields
from workload import CLOCK_TICKS, Workload, cpu_seconds, wait_used, workload_path

MIB = 1 << 20
BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
BPF_ENABLE_STATS = 32
GROUP_LIMIT = 1024 * MIB
GROUP_SLACK = 8 * MIB  # what is allocated and freed between two readings, and what CPUs have charged in advance
BPF_SECONDS = 4
TICK = 1 / CLOCK_TICKS


def reaped_seconds(pid):
    """Returns cutime + cstime: of children that have ended and been waited for."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        found = stat.read().rsplit(")", 1)[1].split()
    return (int(found[13]) + int(found[14])) / CLOCK_TICKS


def readers(pid):
    return {child: name for child, name, _ in children(pid)}


def anonymous_bytes(pid):
    """Returns the memory counted page by page."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
        text = rollup.read()
    return sum(int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M).group(1)) * 1024 for name in ("Anonymous", "Pss_Shmem"))


def counter_slack(processes):
    """Returns the possible error of the counters of resident pages: each CPU has its own batch."""
    batch = max(32, 2 * daemon.CPUS)
    return processes * 2 * batch * daemon.CPUS * os.sysconf("SC_PAGESIZE")


def map_bytes(pid):
    """Returns the sum over BPF maps, each counted once, though it may have several descriptors."""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(FileNotFoundError):
            info = fields(pid, f"fdinfo/{fd}")
            if "map_id" in info:
                found[info["map_id"]] = int(info["memlock"])
    return sum(found.values())


def ring_bytes(pid):
    total = 0
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            if "[perf_event]" in line:
                begin, end = (int(part, 16) for part in line.split()[0].split("-"))
                total += end - begin
    return total


class OwnCost(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            cls.server = stack.enter_context(daemon.Daemon())
            cls.folder = stack.enter_context(tempfile.TemporaryDirectory())
            os.chmod(cls.folder, 0o755)
            cls.running = stack
            cls.ask_for_names(cls, 0)
            cls.addClassCleanup(stack.pop_all().close)

    def cost(self):
        return self.server.json("/status")["cost"]

    def ask_for_names(self, number):
        """Asks for names of a program that profd has not seen, so that the reader processes work."""
        path = f"{self.folder}/victim{number}"
        elf_file.renamed(workload_path("victim"), path, "victim_spins_00", f"victim_spins_{number:02}")
        with Workload(path) as victim:
            wait_used(victim, 0.3)
            self.server.profile(f"last=60s&pid={victim.pid}")

    def truth_of_readers(self):
        pid = self.server.pid
        return reaped_seconds(pid) + sum(map(cpu_seconds, readers(pid)))

    def assert_readers_told(self):
        # The times of each process are reported in whole ticks, rounded down, and one process may end while they are
        # summed up.
        ticks = 2 * TICK * (len(readers(self.server.pid)) + 2)
        before = self.truth_of_readers()
        told = self.cost()["cpu_seconds"]["readers"]
        after = self.truth_of_readers()
        self.assertGreaterEqual(told, before - TICK)
        self.assertLessEqual(told, after + ticks)
        return told

    def test_cpu_time_of_the_daemon(self):
        before = cpu_seconds(self.server.pid)
        told = self.cost()["cpu_seconds"]["daemon"]
        after = cpu_seconds(self.server.pid)
        self.assertGreater(before, 0)
        self.assertGreaterEqual(told, before - TICK)
        self.assertLessEqual(told, after + 2 * TICK)

    def test_cpu_time_of_readers_that_live_and_have_ended(self):
        living = readers(self.server.pid)
        self.assertIn("profd-names", living.values())
        told = self.assert_readers_told()
        for pid in living:
            os.kill(pid, signal.SIGKILL)
        self.assertGreaterEqual(self.cost()["cpu_seconds"]["readers"], told)
        self.ask_for_names(1)
        self.assertGreater(reaped_seconds(self.server.pid), 0)
        self.assertFalse([pid for pid, name in readers(self.server.pid).items() if name == "profd-names" and pid in living])
        self.assertGreaterEqual(self.assert_readers_told(), told)

    def test_share_of_the_last_minute(self):
        """The report of a daemon younger than a minute is of its whole life, except for its first milliseconds."""
        with daemon.Daemon() as server:
            time.sleep(3)
            status = server.json("/status")
        told, seconds = status["cost"]["cpu_percent"]["daemon"], status["uptime_seconds"]
        self.assertGreater(told, 0)
        self.assertAlmostEqual(told * seconds / 100, status["cost"]["cpu_seconds"]["daemon"],
                               delta=0.05 + 0.1 * status["cost"]["cpu_seconds"]["daemon"])

    def memory_while_none_ends(self, part, those):
        while True:
            pids = those()
            try:
                before = sum(map(anonymous_bytes, pids))
                told = self.cost()["memory_bytes"][part]
                after = sum(map(anonymous_bytes, pids))
            except (FileNotFoundError, ProcessLookupError):
                continue
            if pids == those():
                return before, told, after

    def test_memory_of_processes(self):
        pids = {"daemon": lambda: [self.server.pid], "readers": lambda: list(readers(self.server.pid))}
        for part, those in pids.items():
            with self.subTest(part):
                before, told, after = self.memory_while_none_ends(part, those)
                slack = counter_slack(len(those()))
                self.assertGreater(before, 0)
                self.assertGreater(told, min(before, after) - slack)
                self.assertLess(told, max(before, after) + slack)

    def test_memory_of_maps_and_rings(self):
        before, after = 0, 1
        while before != after:  # repeated if a chunk of unwind tables was allocated or freed meanwhile
            before, told, after = map_bytes(self.server.pid), self.cost()["memory_bytes"], map_bytes(self.server.pid)
        self.assertEqual(told["maps"], after)
        self.assertEqual(told["rings"], ring_bytes(self.server.pid))
        self.assertGreater(told["rings"], 0)

    def test_metrics_say_the_same(self):
        before, metrics, after = self.cost(), self.server.metrics(), self.cost()
        for part in ("daemon", "readers", "bpf"):
            told = metrics[f'profd_own_cpu_seconds_total{{part="{part}"}}']
            self.assertLessEqual(before["cpu_seconds"][part], told + 1e-6)
            self.assertLessEqual(told, after["cpu_seconds"][part] + 1e-6)
            self.assertGreaterEqual(metrics[f'profd_own_cpu_ratio{{part="{part}"}}'], 0)
        for part in ("maps", "rings"):
            self.assertEqual(metrics[f'profd_own_memory_bytes{{part="{part}"}}'], before["memory_bytes"][part])
        self.assertEqual(metrics["profd_map_bytes"], before["memory_bytes"]["maps"])

    def test_not_the_group_of_others(self):
        """The daemon shares the test's control group, so it does not report the group's memory as its own."""
        self.assertIsNone(self.cost()["control_group"])
        self.assertNotIn("profd_own_control_group_bytes", self.server.metrics())


def enable_stats():
    """Returns a descriptor; while it is open, the kernel measures the run time of BPF programs."""
    libc, attributes = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(4)  # 0: run time
    fd = libc.syscall(BPF_SYSCALL, BPF_ENABLE_STATS, attributes, len(attributes))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "BPF_ENABLE_STATS")
    return fd


class Bpf(unittest.TestCase):
    """Compares with the kernel's own statistics, which the daemon neither needs nor switches on."""

    def programs(self):
        """Returns program ID -> (type, nanoseconds that it ran)."""
        found = {}
        for fd in os.listdir(f"/proc/{self.server.pid}/fdinfo"):
            with contextlib.suppress(FileNotFoundError):
                info = fields(self.server.pid, f"fdinfo/{fd}")
                if "prog_type" in info:
                    found[info["prog_id"]] = int(info["prog_type"]), int(info["run_time_ns"])
        return found

    def look(self):
        # The profile drains the maps: the daemon's figures are as of the last drain.
        self.server.profile("last=1s")
        return self.server.json("/status")["cost"]["cpu_seconds"]["bpf"] * 1e9, self.programs()

    def test_what_taking_samples_takes(self):
        perf_event = 7  # BPF_PROG_TYPE_PERF_EVENT: the timer's program, which does nothing but take samples
        self.addCleanup(os.close, enable_stats())
        with daemon.Daemon(hz=999) as self.server, Workload("stacks_chain") as chain:
            wait_used(chain, 1)
            self.look()  # the first profile takes longer, because of names
            own_before, before = self.look()
            wait_used(chain, BPF_SECONDS)
            own_after, after = self.look()
        ran = {number: (kind, time - before.get(number, (0, 0))[1]) for number, (kind, time) in after.items()}
        own, everything = own_after - own_before, sum(time for _, time in ran.values())
        timer = sum(time for kind, time in ran.values() if kind == perf_event)
        print(f"[{own / 1e6:.1f} ms, of the timer's {timer / 1e6:.1f}, of all {everything / 1e6:.1f}] ", end="")
        self.assertGreater(timer, 0)
        # The two readings are not made at the same moment; a fifth allows for the time in between.
        self.assertGreater(own, 0.8 * timer)
        self.assertLess(own, 1.2 * everything)


class Group(unittest.TestCase):
    def test_a_group_of_its_own(self):
        group = MemoryGroup(f"profd-test-{os.getpid()}-own", GROUP_LIMIT)
        self.addCleanup(group.remove)
        enter = ["sh", "-c", f'echo $$ >"{group.path}/cgroup.procs" && exec "$@"', "sh"]
        with daemon.Daemon(through=enter) as server:
            server.profile("last=1s")
            before = group.used()
            told = server.json("/status")["cost"]
            after = group.used()
            self.assertGreater(told["control_group"]["bytes"], min(before, after) - GROUP_SLACK)
            self.assertLess(told["control_group"]["bytes"], max(before, after) + GROUP_SLACK)
            self.assertGreater(told["control_group"]["kernel_bytes"], told["memory_bytes"]["rings"])
            self.assertLess(told["control_group"]["kernel_bytes"], told["control_group"]["bytes"])
            self.assertGreater(server.metrics()["profd_own_control_group_bytes"], 0)
            with Workload("spin60_30_10") as other:
                group.add(other.pid)
                self.assertIsNone(server.json("/status")["cost"]["control_group"])
            self.assertIsNotNone(server.json("/status")["cost"]["control_group"])
