#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How right CPU times are, of programs that sleep and wake and time themselves.

  make agreement-time                   all programs, at 19, 99 and 997 Hz
  HZ="99" DAEMONS=2 RUNS=5 ... "timer"  those whose name has the word, in so many daemons side by side

Each line: the sum beside the program's own, and by how many standard deviations the share of one function is off. That many
are two in 95 of 100 runs if samples were taken at random: sqrt(share * (1 - share) / samples).
"""

import concurrent.futures
import contextlib
import math
import os
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from daemon import CPUS, Daemon  # noqa: E402
from warm_up import warm_up  # noqa: E402
from workload import Workload  # noqa: E402

RATES = [int(word) for word in os.environ.get("RATES", "19 99 997").split()]
DAEMONS = int(os.environ.get("DAEMONS", "1"))
RUNS = int(os.environ.get("RUNS", "3"))
SECONDS = int(os.environ.get("SECONDS", "8"))
NANOSECONDS = 1         # the value that is
PROGRAMS = (
    *(("timed", "sleep", us) for us in (50, 200, 1000, 5000, 50000)),
    *(("timed", "every", us) for us in (50, 200, 1000, 5000, 50000)),
    *(("timed", "timer", hz) for hz in (10, 99, 100, 250, 997, 1000)),
    ("timed", "pipe", 100),
    ("timed", "sleep", 200, 2 * CPUS),
    ("timed", "never", 0, 2 * CPUS),
    ("timed", "never", 0),
)


class Timed:
    """A program that says what CPU time it has taken, and what of that one function."""

    def __init__(self, stack, command):
        self.workload = stack.enter_context(Workload(*command, stdin=subprocess.PIPE))
        self.pid = self.workload.pid
        stack.enter_context(self.workload.process.stdin)

    def says(self):
        self.workload.process.stdin.write("\n")
        self.workload.process.stdin.flush()
        return [float(word) for word in self.workload.process.stdout.readline().split()] + [time.monotonic()]


def measured(timed, server):
    """(sum, share of work) of the truth, and of a profile of the same seconds, with its samples."""
    before = timed.says()
    profile = server.profile(f"seconds={SECONDS}&pid={timed.pid}")
    after = timed.says()
    total, within, seconds = (b - a for a, b in zip(before, after))
    total, within = (time * profile.duration_ns / 1e9 / seconds for time in (total, within))
    cpu = profile.total(NANOSECONDS) / 1e9
    inside = profile.total(NANOSECONDS, lambda sample: "work" in sample.names) / 1e9
    return total, within / total, cpu, inside / cpu if cpu else 0, profile.total(0)


def line(name, hz, results):
    ratios, sigmas = [], []
    for total, share, cpu, found, samples in results:
        ratios.append(cpu / total - 1)
        sigmas.append((found - share) / math.sqrt(share * (1 - share) / max(samples, 1)))
    one = 1 / hz / results[0][0]
    print(f"  {name:28} {hz:4} {results[0][0]:8.3f} {100 * min(ratios):+7.1f} {100 * max(ratios):+6.1f} {100 * one:7.1f} "
          f"{100 * results[0][1]:7.1f} {100 * statistics.mean(r[3] for r in results):7.1f} {min(sigmas):+7.1f} {max(sigmas):+5.1f}",
          flush=True)
    return [(abs(ratio) <= max(0.01, one), abs(sigma) <= 2) for ratio, sigma in zip(ratios, sigmas)]


def main():
    if os.geteuid() != 0:
        sys.exit("time_agreement.py: needs root: sudo make agreement-time")
    print("  program                        Hz   true s    sum, by %   a period   share    here   off by sigma")
    good = []
    for hz in RATES:
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(Daemon(hz=hz)) for _ in range(DAEMONS)]
            for command in PROGRAMS:
                name = " ".join(map(str, command[1:]))
                if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
                    continue
                results = []
                with contextlib.ExitStack() as one:
                    timed = Timed(one, command)
                    for server in servers:
                        warm_up(server)
                    time.sleep(1)
                    for _ in range(RUNS):
                        with concurrent.futures.ThreadPoolExecutor(DAEMONS) as pool:
                            results += pool.map(lambda server: measured(timed, server), servers)
                good += line(name, hz, results)
    sums, shares = (100 * sum(column) / len(good) for column in zip(*good))
    print(f"of {len(good)} profiles {sums:.0f} % have a sum within 1 % or a period, {shares:.0f} % a share within two sigma")


if __name__ == "__main__":
    main()
