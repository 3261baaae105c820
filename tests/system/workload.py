# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the programs of tests/workloads; the first comment of each states what a profile of it must have."""

import os
import subprocess
import time

from daemon import BUILD

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def workload_path(name):
    return os.path.join(BUILD, "workloads", name)


class Workload:
    """A running workload that has printed "ready"; it is killed at the end of the with block.

    `name` may also be the absolute path of another program that prints "ready". The workload of a user has the user's group
    only: it cannot do what only root may.
    """

    def __init__(self, name, *arguments, uid=0, **options):
        argv = [workload_path(name), *map(str, arguments)]
        identity = {"user": uid, "group": uid, "extra_groups": []} if uid else {}
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **identity, **options)
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if line != "ready\n":
            raise AssertionError(f"{name} said {line!r} instead of ready")

    def cpu_seconds(self):
        return cpu_seconds(self.pid)

    def output(self):
        """Returns what the workload prints until it ends."""
        rest = self.process.stdout.read()
        self.process.wait()
        return rest

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def cpu_seconds(pid):
    """Returns utime + stime of a process, all threads together."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


def spend(pids, cpu_seconds_each, seconds, patience=60):
    """Waits so many seconds, and longer until each process has used so much CPU time: on busy CPUs a program may get little.
    Returns the query of that time."""
    before = {pid: cpu_seconds(pid) for pid in pids}
    start = end = time.time()
    while end - start < seconds or (end - start < patience and any(
            cpu_seconds(pid) - before[pid] < cpu_seconds_each for pid in pids)):
        time.sleep(0.1)
        end = time.time()
    return f"from={start:.3f}&to={end:.3f}"


def times_told(timed):
    """Returns what workloads/timed reports of itself: CPU seconds, and those within work()."""
    timed.process.stdin.write("\n")
    timed.process.stdin.flush()
    return [float(word) for word in timed.process.stdout.readline().split()]


def wait_used(workload, seconds, patience=120):
    """Waits until a workload has used so many more seconds of CPU time, however little it gets, and a profile of the past has
    them.
    """
    start, end = workload.cpu_seconds(), time.monotonic() + patience
    while workload.cpu_seconds() < start + seconds:
        if time.monotonic() > end:
            raise AssertionError(f"{workload.process.args[0]} did not get {seconds} s of CPU time in {patience} s")
        time.sleep(0.05)
    time.sleep(1)
