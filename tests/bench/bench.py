#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What profd costs, measured in one run on this machine.

Slowdowns are ratios of medians of interleaved repetitions: without profd, with it at 99 Hz, with it
at 999 Hz, over and over, so that a drift of the machine hits all three alike. Beside each ratio is
the spread of the repetitions without profd (the median of their distances from their median): a
ratio closer to 1 than that is noise.

  make bench                  REPETITIONS=9 SECONDS=2 by default
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from daemon import CPUS, Daemon  # noqa: E402
from workload import Workload, cpu_seconds  # noqa: E402

REPETITIONS = int(os.environ.get("REPETITIONS", "9"))
SECONDS = float(os.environ.get("SECONDS", "2"))
WINDOW = 20  # seconds over which the daemon's own CPU time is taken
RATES = (0, 99, 999)
STATS_SWITCH = "/proc/sys/kernel/bpf_stats_enabled"

# workload, what it prints, whether more is better
MEASURES = (
    ("cpubound", "iterations/s", True),
    ("pingpong", "round-trips/s", True),
    ("syscalls", "ns/call", False),
    ("faults", "ns/touch", False),
)


def measure(name):
    with Workload(name, SECONDS) as workload:
        return float(workload.output().split()[0])


def slowdowns():
    """rate -> workload -> values, one for each repetition."""
    values = {rate: {name: [] for name, _, _ in MEASURES} for rate in RATES}
    for repetition in range(REPETITIONS):
        # A different order each time, or the first one would always find the coolest CPU.
        for rate in RATES[repetition % 3:] + RATES[:repetition % 3]:
            with Daemon(hz=rate) if rate else contextlib.nullcontext():
                for name, _, _ in MEASURES:
                    values[rate][name].append(measure(name))
    return values


def print_slowdowns(values):
    print(f"slowdown (ratio of medians, {REPETITIONS} interleaved repetitions of {SECONDS:g} s)")
    print(f"  {'workload':10} {'without':>22} {'99 Hz':>8} {'999 Hz':>8}   spread")
    for name, unit, more_is_better in MEASURES:
        medians = {rate: statistics.median(values[rate][name]) for rate in RATES}
        ratios = [
            medians[0] / medians[rate] if more_is_better else medians[rate] / medians[0] for rate in RATES[1:]
        ]
        spread = statistics.median(abs(value / medians[0] - 1) for value in values[0][name])
        print(f"  {name:10} {medians[0]:>10.4g} {unit:>11} {ratios[0]:8.4f} {ratios[1]:8.4f}   {spread:.4f}")


def own_cpu(daemon):
    """CPU seconds that the daemon uses in a minute, from WINDOW seconds."""
    before, start = cpu_seconds(daemon.pid), time.monotonic()
    time.sleep(WINDOW)
    return (cpu_seconds(daemon.pid) - before) / (time.monotonic() - start) * 60


@contextlib.contextmanager
def bpf_stats():
    with open(STATS_SWITCH, encoding="ascii") as switch:
        was = switch.read()
    with open(STATS_SWITCH, "w", encoding="ascii") as switch:
        switch.write("1")
    try:
        yield
    finally:
        with open(STATS_SWITCH, "w", encoding="ascii") as switch:
            switch.write(was)


def bpf_run_time(daemon):
    """(nanoseconds, runs) of its BPF programs so far."""
    ids = daemon.bpf_ids()["prog"]
    listed = subprocess.run(["bpftool", "-j", "prog", "list"], check=True, capture_output=True).stdout
    mine = [program for program in json.loads(listed) if program["id"] in ids]
    return sum(p.get("run_time_ns", 0) for p in mine), sum(p.get("run_cnt", 0) for p in mine)


def bpf_cost(daemon):
    """Nanoseconds of BPF for each sample and for each tick, with all CPUs busy."""
    with bpf_stats():
        before, samples = bpf_run_time(daemon), daemon.metrics()["profd_samples_total"]
        time.sleep(10)
        after, samples_after = bpf_run_time(daemon), daemon.metrics()["profd_samples_total"]
    spent, runs = after[0] - before[0], after[1] - before[1]
    return spent / max(samples_after - samples, 1), spent / max(runs, 1)


def memory(daemon):
    """(resident MiB, MiB of BPF maps)."""
    maps = daemon.get("/status").json()["maps"]["bytes"]
    return daemon.rss_kib() / 1024, maps / 2**20


def first_sample():
    """Seconds from the start of the process to the first sample that can be read."""
    with Workload("cpubound", 60), Daemon() as daemon:
        while daemon.metrics()["profd_samples_total"] == 0:
            time.sleep(0.005)
        return time.monotonic() - daemon.started


def main():
    if os.geteuid() != 0:
        sys.exit("bench: needs root: sudo make bench")
    print(f"{CPUS} CPUs, Linux {os.uname().release}")
    print_slowdowns(slowdowns())
    for rate in RATES[1:]:
        with Daemon(hz=rate) as daemon:
            time.sleep(2)
            idle = own_cpu(daemon)
            with contextlib.ExitStack() as stack:
                for _ in range(CPUS):
                    stack.enter_context(Workload("cpubound", 600))
                busy = own_cpu(daemon)
                per_sample, per_run = bpf_cost(daemon)
                rss, maps = memory(daemon)
        print(f"at {rate} Hz")
        print(f"  daemon      {idle:.2f} CPU s/min idle, {busy:.2f} busy")
        print(f"  BPF         {per_sample:.0f} ns/sample busy, {per_run:.0f} ns/run")
        print(f"  memory      {rss:.1f} MiB resident, {maps:.1f} MiB of BPF maps")
    starts = [first_sample() for _ in range(5)]
    print(f"start to first sample: {statistics.median(starts) * 1000:.0f} ms (median of 5)")


if __name__ == "__main__":
    main()
