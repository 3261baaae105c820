#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How many user stacks are whole, program by program, and what walking them costs.

  make bench-unwind                     all of it
  tests/bench/unwind.py redis-server xz the programs named, or "cost"
  tests/bench/unwind.py --install       first installs what the programs need
  tests/bench/unwind.py --seconds 5     of each program (20 by default)
  tests/bench/unwind.py --no-perf       without perf beside it

A stack is whole when wholeness.py says so, not when profd does: one that ends elsewhere without
saying why counts as cut by "ends elsewhere". Programs that are not installed are named as skipped.
"""

import argparse
import ctypes.util
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

import daemon as under_test  # noqa: E402
import packages  # noqa: E402
import perf_dwarf  # noqa: E402
import programs  # noqa: E402
import sample_cost  # noqa: E402
from profile_pb import Profile  # noqa: E402
from warm_up import warm_up  # noqa: E402
from wholeness import Account  # noqa: E402

LOAD_SECONDS = 3  # ample time for a process to load a large library
PERF_SECONDS = 5
BESIDE_PERF = {
    "redis-server", "sqlite3", "openssl", "xz", "python3.11", "node", "chain", "frames", "signals-plain",
    "throw", "numpy-dgemm", "cc1",
}
DEPTHS = (5, 55)  # steps; the stack has 5 more frames above and below them
BUILT = "libLLVM-14.so.1"


def metric(metrics, name):
    """Returns a metric by the end of its name, or NaN where the daemon does not have it."""
    for key, value in metrics.items():
        if key in (f"profd_unwind_{name}", f"profd_unwind_{name}_total", f"profd_{name}", f"profd_{name}_total"):
            return value
    return float("nan")


def top(counter, count=2):
    total = sum(counter.values())
    return ", ".join(f"{name[:40]} {100 * n / total:.0f}%" for name, n in counter.most_common(count))


# ---- completeness ----------------------------------------------------------------------------------------
def measure(server, name, seconds, with_perf):
    with programs.PROGRAMS[name]() as who:
        warm_up(server)
        answer = server.get(f"/profile?seconds={seconds}&{who}", timeout=seconds + 60)
        if answer.status != 200:
            raise AssertionError(f"{name}: {answer.status} {answer.text}")
        account = Account(Profile(answer.body))
        beside = None
        if with_perf and name in BESIDE_PERF and who.startswith("pid="):
            beside = perf_dwarf.measure(int(who[4:]), server_hz(server), PERF_SECONDS)
    return account, beside


def server_hz(server):
    return round(metric(server.metrics(), "sample_hz"))


def print_account(name, account, beside):
    perf = f"{beside.percent:6.2f}%" if beside else "      -"
    cuts = "; ".join(f"{reason} {count}" for reason, count in account.cuts.most_common())
    print(f"  {name:18}{account.samples:>8} {account.percent:8.2f}% {perf}  {cuts}", flush=True)
    if account.cuts:
        print(f"  {'':44} stopped in: {top(account.stopped)}; leaf: {top(account.leaves)}", flush=True)


def print_completeness(names, seconds, with_perf):
    print(f"whole user stacks, {seconds} s a program at {under_test.HZ} Hz "
          f"(perf: dwarf, {perf_dwarf.DUMP_BYTES} bytes a sample, {PERF_SECONDS} s)")
    print(f"  {'program':18}{'samples':>8} {'whole':>9} {'perf':>7}  cut short by", flush=True)
    totals, skipped = [], []
    with under_test.Daemon() as server:
        for name in names:
            try:
                account, beside = measure(server, name, seconds, with_perf)
            except programs.Missing as missing:
                skipped.append(f"{name} ({missing})")
                continue
            print_account(name, account, beside)
            totals.append(account)
        metrics = server.metrics()
    samples = sum(account.samples for account in totals)
    whole = sum(account.whole for account in totals)
    print(f"  {'all':18}{samples:>8} {100 * whole / max(samples, 1):8.2f}%")
    for name in skipped:
        print(f"  skipped, not installed: {name}")
    print("counted by the walker, whole host: " + ", ".join(
        f"{key.removeprefix('profd_')} {value:.0f}" for key, value in metrics.items()
        if key.startswith(("profd_walk_", "profd_cut_", "profd_frames"))
    ))


# ---- cost ------------------------------------------------------------------------------------------------
def walk_cost(depth):
    """Returns (ns a sample, frames a sample) with every CPU at the bottom of `depth` steps."""
    with under_test.Daemon(hz=999) as server:
        return sample_cost.measure_one(server, "stacks_recursion", depth)


def text_bytes(path):
    """Returns the sum of the sizes of an executable file's code sections."""
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    return sum(int(size, 16) for size in re.findall(r" PROGBITS +\w+ +\w+ +(\w+) +\w+ +AX ", sections))


def mapped(pid, name):
    """Returns the path of a library that a process has loaded."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        return next(line.split()[-1] for line in maps if line.rstrip().endswith("/" + name))


def print_tables():
    """Prints the size of the unwind tables, and how long building the table of a large library takes."""
    interpreter, = programs.need(programs.PYTHON)
    script = f"import ctypes\nctypes.CDLL('{BUILT}')\nprint('loaded', flush=True)\nwhile True: pass"
    with under_test.Daemon() as server:
        before = warm_up(server)
        with programs.running([interpreter, "-c", script]) as process:
            time.sleep(LOAD_SECONDS)
            after = warm_up(server)
            megabytes = text_bytes(mapped(process.pid, BUILT)) / 1e6
        rss, maps = server.rss_kib() / 1024, after.get("profd_map_bytes", 0) / 2**20
    print(f"tables at start: {metric(before, 'tables'):.0f} of {metric(before, 'rows'):.0f} rows, "
          f"{metric(before, 'table_bytes') / 1e6:.2f} MB, built in "
          f"{metric(before, 'build_seconds') * 1e3:.0f} ms")
    built, rows, size, spent = (
        metric(after, name) - metric(before, name)
        for name in ("tables_built", "rows", "table_bytes", "build_seconds")
    )
    print(f"{BUILT} and {built - 1:.0f} more: {megabytes:.1f} MB of text, {rows:.0f} rows, {size / 1e6:.2f} MB "
          f"({size / max(rows, 1):.2f} bytes a row), {spent * 1e3:.0f} ms: "
          f"{spent * 1e3 / megabytes:.2f} ms a MB of text")
    print(f"daemon: {rss:.1f} MiB resident, {maps:.1f} MiB of BPF maps")


def print_cost():
    costs = [walk_cost(depth) for depth in DEPTHS]
    for depth, (spent, frames) in zip(DEPTHS, costs):
        print(f"BPF, {depth} steps deep: {spent:.0f} ns a sample, {frames:.1f} frames, "
              f"{spent / frames:.1f} ns a frame")
    (less, few), (more, many) = costs
    if many - few > 1:
        print(f"BPF, one frame more: {(more - less) / (many - few):.1f} ns")
    if ctypes.util.find_library("LLVM-14"):
        print_tables()
    else:
        print(f"skipped, not installed: {BUILT} (tables)")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PROGRAM")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--no-perf", action="store_true")
    given = parser.parse_args()
    unknown = set(given.names) - set(programs.PROGRAMS) - {"cost"}
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(programs.PROGRAMS)}, cost")
    return given


def main():
    given = arguments()
    if os.geteuid() != 0:
        sys.exit("unwind: needs root: sudo make bench-unwind")
    if given.install:
        packages.install()
    names = given.names or [*programs.PROGRAMS, "cost"]
    print(f"{under_test.CPUS} CPUs, Linux {os.uname().release}")
    measured = [name for name in names if name != "cost"]
    if measured:
        print_completeness(measured, given.seconds, not given.no_perf)
    if "cost" in names:
        print_cost()


if __name__ == "__main__":
    main()
