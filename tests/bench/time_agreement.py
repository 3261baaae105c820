#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures how accurate CPU times are, with programs that sleep and wake and measure their own time.

  make agreement-time                           all programs, at 19, 99 and 997 Hz
  RATES="99" DAEMONS="1 2" RUNS=5 ... "timer"   programs whose name has the word, with so many daemons side by side
  PERF=1 ...                                    also what perf record reports of the same seconds, where it is installed

Each line has the difference of profd's sum from the program's own, and one period of each of its threads as a percent of
that sum; then by how many standard deviations the share of one function is off. With random sampling the difference is within
two of them in 95 of 100 runs: sqrt(share * (1 - share) / samples). In a guest, the last column says how much of its CPUs'
time the hypervisor took. perf record is used for programs in C only, whose timed function calls no other.
"""

import concurrent.futures
import contextlib
import itertools
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

import cpus  # noqa: E402
from daemon import CPUS, ROOT, Daemon  # noqa: E402
from warm_up import warm_up  # noqa: E402
from workload import Workload, times_told, workload_path  # noqa: E402

RATES = [int(word) for word in os.environ.get("RATES", "19 99 997").split()]
DAEMONS = [int(word) for word in os.environ.get("DAEMONS", "1").split()]
PERF = shutil.which("perf") if os.environ.get("PERF") == "1" else None
RUNS = int(os.environ.get("RUNS", "3"))
SECONDS = int(os.environ.get("SECONDS", "8"))
NANOSECONDS = 1         # the index of the value in nanoseconds
SOURCES = os.path.join(ROOT, "tests", "workloads")
QUOTA = 0.4             # of a CPU, in periods of 100 ms

# name -> command; WORK names the timed function where that is not work().
PROGRAMS = {
    **{f"sleep {us}": ("timed", "sleep", us) for us in (50, 200, 1000, 5000, 50000)},
    **{f"every {us}": ("timed", "every", us) for us in (50, 200, 1000, 5000, 50000)},
    **{f"timer {hz}": ("timed", "timer", hz) for hz in (10, 99, 100, 250, 997, 1000)},
    "pipe 100": ("timed", "pipe", 100),
    f"sleep 200, {2 * CPUS} threads": ("timed", "sleep", 200, 2 * CPUS),
    f"never, {2 * CPUS} threads": ("timed", "never", 0, 2 * CPUS),
    "never": ("timed", "never", 0),
    "niced": ("timed", "never", 0),
    "quota": ("timed", "never", 0),
    "python server 200": (sys.executable, os.path.join(SOURCES, "python", "timed.py"), 200),
    "python server 5000": (sys.executable, os.path.join(SOURCES, "python", "timed.py"), 5000),
    "go server 200": ("go", 200),
    "go server 5000": ("go", 5000),
    "node server 200": ("node", os.path.join(SOURCES, "node", "timed.js"), 200),
    "node server 5000": ("node", os.path.join(SOURCES, "node", "timed.js"), 5000),
}
WORK = {"go": "main.work", "node": "PKCS5_PBKDF2_HMAC"}


def go_program(stack):
    """Builds the Go program and returns its path, or None where Go is not installed."""
    if not shutil.which("go"):
        return None
    path = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "timed_go")
    subprocess.run(["go", "build", "-o", path, os.path.join(SOURCES, "timed_go.go")], check=True)
    return path


@contextlib.contextmanager
def quota():
    """Yields the folder of a control group with a CPU quota, of cgroup v1 or v2, or None where neither can be made."""
    with open("/proc/self/mounts", encoding="utf-8") as lines:
        mounted = [line.split()[1:4] for line in lines]
    for path, kind, options in mounted:
        folder = os.path.join(path, f"profd-quota-{os.getpid()}")
        if kind not in ("cgroup", "cgroup2") or (kind == "cgroup" and "cpu" not in options.split(",")):
            continue
        file, text = ("cpu.max", f"{int(QUOTA * 1e5)} 100000") if kind == "cgroup2" else ("cpu.cfs_quota_us", f"{int(QUOTA * 1e5)}")
        try:
            os.mkdir(folder)
        except OSError:
            continue
        try:
            with open(os.path.join(folder, file), "w", encoding="ascii") as limit:
                limit.write(text)
            yield folder
            return
        except OSError:
            continue
        finally:
            os.rmdir(folder)
    yield None


def command_of(stack, name):
    """Returns (argv, the name of the timed function), or None where the program cannot run here."""
    program, *arguments = PROGRAMS[name]
    work = WORK.get(program, "work")
    if program == "go":
        program = go_program(stack)
    elif program == "node":
        program = shutil.which("node")
    if not program:
        return None
    argv = [workload_path(program), *map(str, arguments)]
    if name == "niced":
        for _ in range(CPUS):
            stack.enter_context(Workload("timed", "never", 0, stdin=subprocess.PIPE))
        argv = ["nice", "-n", "5", *argv]
    if name == "quota":
        folder = stack.enter_context(quota())
        argv = folder and ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, *argv]
    return argv and ([shutil.which(argv[0]), *argv[1:]], work)


class Timed:
    """A running program that reports the CPU time it has taken, and the part of it in one function."""

    def __init__(self, stack, argv, work):
        self.work, self.is_c = work, workload_path("timed") in argv
        self.lock = threading.Lock()  # daemons side by side ask at the same time
        self.workload = stack.enter_context(Workload(*argv, stdin=subprocess.PIPE))
        self.pid = self.workload.pid
        stack.enter_context(self.workload.process.stdin)

    def says(self):
        with self.lock:
            return times_told(self.workload) + [time.monotonic()]


def stolen():
    """Returns (ticks that the hypervisor took, all ticks) of all CPUs since the host's start."""
    ticks = cpus.ticks_so_far()
    return ticks[cpus.STOLEN], sum(ticks)


def measured(timed, server):
    """Returns (sum, share of work) as the program reports them and as a profile of the same seconds has them, and the
    profile's samples."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        before = timed.says()
        answer = pool.submit(server.profile, f"seconds={SECONDS}&pid={timed.pid}")
        time.sleep(SECONDS)
        after = timed.says()
        profile = answer.result()
    total, within, seconds = (b - a for a, b in zip(before, after))
    total, within = (time * profile.duration_ns / 1e9 / seconds for time in (total, within))
    cpu = profile.total(NANOSECONDS) / 1e9
    inside = profile.total(NANOSECONDS, lambda sample: timed.work in sample.names) / 1e9
    return total, within / total, cpu, inside / cpu if cpu else 0, profile.total(0)


def by_perf(timed, hz):
    """Returns (sum, share) that perf record has, by the CPU clock."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([PERF, "record", "-q", "-F", str(hz), "-e", "cpu-clock", "-p", str(timed.pid), "-o", file.name, "--",
                        "sleep", str(SECONDS)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = subprocess.run([PERF, "script", "-i", file.name, "-F", "period,ip,sym"], check=True, capture_output=True,
                               text=True).stdout.splitlines()
    samples = [words for words in (line.split(maxsplit=2) for line in lines) if len(words) == 3]
    total = sum(int(period) for period, *_ in samples)
    return total / 1e9, sum(int(period) for period, _, name in samples if name.strip() == timed.work) / max(total, 1)


def line(name, hz, threads, results, steal):
    ratios, sigmas = [], []
    for total, share, cpu, found, samples in results:
        ratios.append(cpu / total - 1)
        sigmas.append((found - share) / math.sqrt(share * (1 - share) / max(samples, 1)))
    one = threads / hz / results[0][0]
    print(f"  {name:28} {hz:4} {results[0][0]:8.3f} {100 * min(ratios):+7.1f} {100 * max(ratios):+6.1f} {100 * one:7.1f} "
          f"{100 * results[0][1]:7.1f} {100 * statistics.mean(r[3] for r in results):7.1f} {min(sigmas):+7.1f} {max(sigmas):+5.1f} "
          f"{100 * steal:7.1f}",
          flush=True)
    return [(abs(ratio) <= max(0.01, one), abs(sigma) <= 2) for ratio, sigma in zip(ratios, sigmas)]


def runs(pool, timed, servers, hz):
    """Calls measured() RUNS times for each daemon; returns the results, and the differences (sum, share) of perf beside them."""
    results, beside = [], []
    for _ in range(RUNS):
        perf = PERF and timed.is_c and pool.submit(by_perf, timed, hz)
        before = timed.says() if perf else None
        results += pool.map(lambda server: measured(timed, server), servers)
        if perf:
            cpu, share = perf.result()
            total, within, seconds = (b - a for a, b in zip(before, timed.says()))
            beside.append((cpu * seconds / SECONDS / total - 1, share - within / total))
    return results, beside


def compare(name, hz, servers):
    """Prints line() of one program under all daemons at once; returns an empty list where the program cannot run."""
    with contextlib.ExitStack() as stack:
        command = command_of(stack, name)
        if not command:
            print(f"  {name:28} {hz:4} cannot be run here", flush=True)
            return []
        timed = Timed(stack, *command)
        for server in servers:
            warm_up(server)
        time.sleep(1)
        before = stolen()
        with concurrent.futures.ThreadPoolExecutor(len(servers) + 1) as pool:
            results, beside = runs(pool, timed, servers, hz)
        steal, all_ticks = (b - a for a, b in zip(before, stolen()))
        threads = len(os.listdir(f"/proc/{timed.pid}/task"))
    good = line(name, hz, threads, results, steal / all_ticks)
    for total, share in beside:
        print(f"  {'perf record, whole run':28} {hz:4} {100 * total:+15.1f} % {100 * share:+30.1f} points", flush=True)
    return good


def main():
    if os.geteuid() != 0:
        sys.exit("time_agreement.py: needs root: sudo make agreement-time")
    good = []
    for hz, count in itertools.product(RATES, DAEMONS):
        print(f"{count} at once at {hz} Hz\n"
              "  program                        Hz   true s    sum, by %   periods   share     here   off by sigma  stolen %")
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(Daemon(hz=hz)) for _ in range(count)]
            for name in PROGRAMS:
                if not sys.argv[1:] or any(word in name for word in sys.argv[1:]):
                    good += compare(name, hz, servers)
    if good:
        sums, shares = (100 * sum(column) / len(good) for column in zip(*good))
        print(f"of {len(good)} profiles {sums:.0f} % have a sum within 1 % or a period of each thread, {shares:.0f} % a share within two sigma")


if __name__ == "__main__":
    main()
