# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures what a daemon uses: the CPU time of its control group, which includes its reader processes; the time that its
BPF programs take from others; the memory that the control group counts; and the fate of the timer's ticks. One daemon goes
through all states of the machine in turn, as it does on a real host.
"""

import contextlib
import subprocess
import threading
import time

from bpf_time import bpf_run_time, bpf_stats
from daemon import CPUS
from variants import started
from workload import Workload, workload_path

WINDOW = 20         # seconds of each state
# Seconds before a state is measured, 2 where none are given: profd has learnt of the new processes, and a start is over.
SETTLED = {"idle": 15, "sleepers": 10}
SLEEPERS = 3000
LOOPS = 2           # processes of each storm
GIVEN_BACK = 60     # seconds after the storms, in which memory is given back
MIB = 2**20
QUERIES = (
    "/profile?last=30s", "/profile?last=30s&format=text", "/profile?last=10s&format=folded", "/profile?last=30s&type=rss",
    "/profile?last=30s&type=mmap&format=text", "/processes", "/profile?last=30s&by=line&format=text",
)
FATES = {"ticks": ("ticks",), "samples": ("samples",), "idle": ("idle",), "missed": ("ticks_missed",),
         "lost": ("tallies_lost", "samples_lost_in_drain"), "without stack": ("stacks_lost",)}


@contextlib.contextmanager
def running(times, *argv):
    """Runs several fixed_work programs, which do not end by themselves."""
    with contextlib.ExitStack() as stack:
        for _ in range(times):
            process = stack.enter_context(subprocess.Popen([workload_path("fixed_work"), *argv]))
            stack.callback(process.kill)
        yield


STATES = {
    "idle": ("idle", contextlib.nullcontext),
    "busy": ("busy, all CPUs", lambda: running(CPUS, "cpu", "0")),
    "execs": (f"exec storm, {LOOPS} loops", lambda: running(LOOPS, "exec", "0")),
    "forks": (f"fork storm, {LOOPS} loops", lambda: running(LOOPS, "fork", "0")),
    "sleepers": (f"{SLEEPERS} processes that sleep", lambda: Workload("sleepers", SLEEPERS)),
}


def forks_so_far():
    with open("/proc/stat", encoding="ascii") as stat:
        return next(int(line.split()[1]) for line in stat if line.startswith("processes "))


def fates(daemon):
    metrics = daemon.metrics()
    return {fate: sum(metrics.get(f"profd_{name}_total", 0) for name in names) for fate, names in FATES.items()}


def memory(daemon):
    counted = daemon.group.memory()
    if counted is None:
        return None
    return {
        "user": counted.user / MIB, "kernel": counted.kernel / MIB, "page_cache": counted.page_cache / MIB,
        "daemon_rss": daemon.rss_kib() / 1024, "maps": daemon.json("/status")["maps"]["bytes"] / MIB,
    }


class Peak:
    """The largest sum of user and kernel memory during the block, sampled ten times a second."""

    def __init__(self, group):
        self.group, self.most, self.over = group, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.over.wait(0.1):
            counted = self.group.memory()
            self.most = max(self.most, (counted.user + counted.kernel) / MIB if counted else 0)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.over.set()
        self.thread.join()


def window(daemon):
    """Returns what the daemon uses during WINDOW seconds from now, as rates per minute, and the fate of the ticks."""
    with bpf_stats():
        cpu, bpf, before = daemon.group.cpu_seconds(), bpf_run_time(daemon)[0], fates(daemon)
        forks, start = forks_so_far(), time.monotonic()
        time.sleep(WINDOW)
        seconds, forks = time.monotonic() - start, forks_so_far() - forks
        cpu, bpf = daemon.group.cpu_seconds() - cpu, (bpf_run_time(daemon)[0] - bpf) / 1e9
        after = fates(daemon)
    return {
        "cpu": cpu * 60 / seconds, "bpf": bpf * 60 / seconds, "processes_per_second": forks / seconds,
        "us_per_process": 1e6 * cpu / max(forks, 1), "ticks": {fate: after[fate] - before[fate] for fate in FATES},
    }


def measure(variant, told=lambda line: None):
    """Returns {"states": each of STATES -> window(), "memory": moment -> memory(), "peak": MiB}."""
    states, moments = {}, {}

    def go_through(*names):
        for name in names:
            told(f"{variant.name}: {STATES[name][0]}")
            with STATES[name][1]():
                time.sleep(SETTLED.get(name, 2))
                states[name] = window(daemon)

    with started(variant) as daemon, Peak(daemon.group) as peak:
        moments["after the start"] = memory(daemon)
        go_through("idle", "busy")
        for query in QUERIES:
            daemon.get(query)
        moments["after the first queries"] = memory(daemon)
        go_through("execs", "forks")
        over = time.monotonic()
        moments["after the storms"] = memory(daemon)
        go_through("sleepers")
        time.sleep(max(0, over + GIVEN_BACK - time.monotonic()))
        moments["a minute later"] = memory(daemon)
    return {"states": states, "memory": moments, "peak": peak.most}
