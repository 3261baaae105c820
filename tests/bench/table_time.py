# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures how long the stacks of a newly started program are truncated for lack of unwind tables: the samples whose stack
wholeness.py does not call whole, times the period that each sample stands for. Every run has its own daemon, which has not
seen the program's files before.
"""

import collections
import contextlib
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from daemon import HZ
from own_cost import Peak
from profile_pb import Profile
from variants import started
from wholeness import Account
from workload import workload_path

RUNS = 5
SECONDS = 3             # of each program
CROWD_SECONDS = 20
FUNCTIONS = 3000        # enough to keep a compiler busy for longer than SECONDS
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

# Programs that distributions ship, each busy for longer than CROWD_SECONDS; those that are installed are used.
ENDLESS = "yes abcdefghijklmnopqrstuvwxyz | "
CROWD = {
    "xz": "xz -9 < /dev/urandom", "bzip2": "bzip2 -9 < /dev/urandom", "gzip": "gzip -9 < /dev/urandom",
    "zstd": "zstd -19 < /dev/urandom", "openssl": "openssl speed -seconds 60 rsa2048", "sha256sum": "sha256sum /dev/zero",
    "b2sum": "b2sum /dev/zero", "perl": "perl -e 'while (1) { $x{rand() * 1000} .= 1; %x = () if rand() < .001 }'",
    "python3": "python3 -c 'while True: sorted(range(9999), key=str)'", "sort": ENDLESS + "sort -S 64M",
    "awk": "awk 'BEGIN { while (1) x[i++ % 999] = i \" \" }'", "sed": ENDLESS + "sed -E 's/(a|b)+(.*)z/\\2/'",
    "grep": ENDLESS + "grep -E '(a|b)*c.*q$'", "cmp": "cmp /dev/zero /dev/zero", "od": "od -x /dev/urandom",
    "bash": "bash -c 'while :; do x=${x//a/b}a; x=${x:0:99}; done'",
    "sqlite3": "sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c) select sum(x*x) from c'",
}
CROWDED = 15


def source():
    """Returns a C file that keeps a compiler busy."""
    lines = ["int use(int);"]
    for number in range(FUNCTIONS):
        lines.append(f"int f{number}(int *a, int n) {{ int s = {number}; for (int i = 0; i < n; i++) {{ "
                     f"s += a[i] * (i ^ {number}); if (s & {number % 31 + 1}) s = use(s / (i + 3)); a[i] = s; }} return s; }}")
    return "\n".join(lines)


@contextlib.contextmanager
def running(argv):
    with subprocess.Popen(argv, start_new_session=True, **QUIET) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)


def account(daemon, seconds, pids):
    query = "&".join(f"pid={pid}" for pid in pids)
    answer = daemon.get(f"/profile?last={seconds + 1}s&children=1&{query}")
    if answer.status != 200:
        raise AssertionError(f"{query}: {answer.status} {answer.text}")
    return Account(Profile(answer.body))


def cut_time(daemon, argv):
    """Returns (milliseconds of CPU time without a whole stack, the reasons, the peak of memory meanwhile)."""
    with running(argv) as process:
        with Peak(daemon.group) as peak:
            time.sleep(SECONDS)
        counted = account(daemon, SECONDS, [process.pid])
    if not counted.samples:
        raise AssertionError(f"{argv[0]} was not sampled")
    return 1000 * (counted.samples - counted.whole) / HZ, counted.cuts, peak.most


def large(folder):
    """Returns the command that runs most of libLLVM, or None where no clang is linked with it."""
    clang = shutil.which("clang")
    linked = subprocess.run(["ldd", clang], capture_output=True, text=True, check=False).stdout if clang else ""
    if "libLLVM" not in linked:
        return None
    path = os.path.join(folder, "large.c")
    with open(path, "w", encoding="ascii") as file:
        file.write(source())
    return [clang, "-O2", "-c", path, "-o", "/dev/null"]


def crowd(daemon):
    """Starts programs all at once; returns how many there were, and the percent of samples with a truncated stack."""
    commands = [command for name, command in CROWD.items() if shutil.which(name)][:CROWDED]
    with contextlib.ExitStack() as stack:
        pids = [stack.enter_context(running(["sh", "-c", command])).pid for command in commands]
        time.sleep(CROWD_SECONDS)
        counted = account(daemon, CROWD_SECONDS, pids)
    return {"programs": len(commands), "cut": 100 - counted.percent, "why": dict(counted.cuts)}


def measure(variant, told=lambda line: None):
    """Returns "small" and "large" -> {"mean", "most", "peak" MiB, "why"}, or None where the program is missing; and "crowd"."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        commands = {"small": [workload_path("stacks_chain")], "large": large(folder)}
        times = {name: [] for name, argv in commands.items() if argv}
        reasons = {name: collections.Counter() for name in times}
        peaks = dict.fromkeys(times, 0)
        for run in range(RUNS):
            told(f"{variant.name}: tables, {run + 1} of {RUNS}")
            with started(variant) as daemon:
                for name in times:
                    milliseconds, cuts, peak = cut_time(daemon, commands[name])
                    times[name].append(milliseconds)
                    reasons[name] += cuts
                    peaks[name] = max(peaks[name], peak)
        told(f"{variant.name}: {CROWDED} programs at once")
        with started(variant) as daemon:
            results["crowd"] = crowd(daemon)
    for name in commands:
        results[name] = times.get(name) and {
            "mean": statistics.mean(times[name]), "most": max(times[name]), "peak": peaks[name],
            "why": dict(reasons[name]),
        }
    return results
