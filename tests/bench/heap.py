#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures what heap profiles cost, those of profd and of other tools, in one run on this machine.

  make bench-heap                   all of it
  tests/bench/heap.py calls cost    the named parts: calls, cost
  REPETITIONS=7 SECONDS=4           5 and 3 by default
  PROGRAMS="mixed map"              mixed, map, python by default
  WAYS="without; memray"            by name; all by default

"calls" is the time of a malloc() and its free() without and with libprofd-heap.so, in ns. "cost" is the ratio of the rounds
per second of CPU time that a program makes without a profiler to those it makes with one: medians of interleaved
repetitions. The spread of the repetitions without a profiler (the median of their distances from their median) is printed
beside the ratios: a ratio closer to 1 than the spread is noise. The ratios do not contain what a tool does in its own
processes. A tool that is missing, or that recorded nothing, is named and is not measured again. An interrupted run prints
the results so far.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "system"), HERE]

from daemon import BUILD, CPUS  # noqa: E402
from heap_tools import LIBRARY, WAYS, NotMeasured  # noqa: E402

REPETITIONS = int(os.environ.get("REPETITIONS", "5"))
SECONDS = os.environ.get("SECONDS", "3")
PROGRAMS = {
    "mixed": ([os.path.join(BUILD, "tests/bench/heap_mixed"), SECONDS], "C, 100,000 allocations a second amid work"),
    "map": ([os.path.join(BUILD, "tests/bench/heap_map"), SECONDS], "C++, a std::map whose entries come and go"),
    "python": (["python3", os.path.join(HERE, "heap_json.py"), SECONDS], "Python, json to text and back"),
}
CHOSEN = os.environ.get("PROGRAMS", " ".join(PROGRAMS)).split()
CHOSEN_WAYS = [name.strip() for name in os.environ.get("WAYS", ";".join(way.name for way in WAYS)).split(";")]


# ---- calls ---------------------------------------------------------------------------------------------------
def pair_ns(**environment):
    """Returns pattern -> ns of a malloc() and its free()."""
    done = subprocess.run([os.path.join(BUILD, "tests/bench/preload")], env=dict(os.environ, **environment),
                          check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def calls():
    without, preloaded = [], []
    for _ in range(REPETITIONS):
        without.append(pair_ns())
        preloaded.append(pair_ns(LD_PRELOAD=LIBRARY))
    print(f"ns for a malloc() with its free() (the least of {REPETITIONS} interleaved repetitions)")
    print(f"  {'':10} {'without':>10} {'libprofd-heap':>14} {'more':>6}")
    for pattern in without[0]:
        base, more = (min(run[pattern] for run in runs) for runs in (without, preloaded))
        print(f"  {pattern:10} {base:10.2f} {more:14.2f} {more - base:6.2f}")


# ---- cost ----------------------------------------------------------------------------------------------------
def line_of(process, wanted, way):
    """Returns the first line for which wanted() is true: a tool may print lines of its own before it."""
    for line in process.stdout:
        if wanted(line):
            return line
    raise NotMeasured(f"the program ended under {way.name}")


def is_number(line):
    try:
        return float(line) > 0
    except ValueError:
        return False


def rounds_per_second(way, program):
    """Runs the program once and returns the rate that it reports."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        around = stack.enter_context(way.around())
        argv, environment = way.command(PROGRAMS[program][0], folder)
        process = stack.enter_context(subprocess.Popen(
            argv, env=dict(os.environ, **environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True))
        # Two contexts wait for the program's end: it ends by itself once its input is closed.
        stack.callback(lambda: process.stdin.closed or process.stdin.close())
        line_of(process, lambda line: line == "ready\n", way)
        with way.attached(process.pid, around):
            process.stdin.write("go\n")
            process.stdin.flush()
            value = float(line_of(process, is_number, way))
        process.stdin.close()
        process.stdout.read()
        process.wait(60)
        way.recorded(folder)
    return value


def usable_ways():
    usable = []
    for way in WAYS:
        if way.name not in CHOSEN_WAYS:
            continue
        try:
            way.check()
            usable.append(way)
        except NotMeasured as why:
            print(f"  not measured: {way.name}: {why}")
    return usable


def cost():
    print(f"slowdown (ratio of medians, {REPETITIONS} interleaved repetitions of {SECONDS} CPU seconds)")
    for name in CHOSEN:
        print(f"  {name:8} {PROGRAMS[name][1]}")
    ways = usable_ways()
    values = {(way.name, name): [] for way in ways for name in way.programs(CHOSEN)}
    try:
        repeat(ways, values)
    except KeyboardInterrupt:
        print("  interrupted; repetitions without:", *(len(values["without", name]) for name in CHOSEN))
    print_cost(ways, {key: runs for key, runs in values.items() if runs})


def repeat(ways, values):
    """Appends the results of interleaved repetitions to values[way, program]."""
    failed = set()
    for repetition in range(REPETITIONS):
        # The order differs each time: otherwise the first way would always find the coolest CPU.
        turn = repetition % len(ways)
        for way in ways[turn:] + ways[:turn]:
            for name in way.programs(CHOSEN):
                if (way.name, name) in failed:
                    continue
                try:
                    values[way.name, name].append(rounds_per_second(way, name))
                except NotMeasured as why:
                    print(f"  not measured: {way.name}, {name}, in repetition {repetition + 1}: {why}")
                    failed.add((way.name, name))


def print_cost(ways, values):
    medians = {key: statistics.median(runs) for key, runs in values.items()}
    print(f"  {'':28} " + " ".join(f"{name:>9}" for name in CHOSEN))
    for way in ways:
        cells = [f"{medians[way.base, name] / medians[way.name, name]:9.3f}"
                 if {(way.base, name), (way.name, name)} <= medians.keys() else f"{'-':>9}" for name in CHOSEN]
        print(f"  {way.name:28} " + " ".join(cells) + ("" if way.base == "without" else f"   beside {way.base}"))
    spreads = [statistics.median(abs(value / medians["without", name] - 1) for value in values["without", name])
               if ("without", name) in medians else 0 for name in CHOSEN]
    print(f"  {'spread without':28} " + " ".join(f"{spread:9.3f}" for spread in spreads))


PARTS = {"calls": calls, "cost": cost}


def main():
    if os.geteuid() != 0:
        sys.exit("bench-heap: needs root: sudo make bench-heap")
    print(f"{CPUS} CPUs, Linux {os.uname().release}", flush=True)
    for part in sys.argv[1:] or PARTS:
        if part not in PARTS:
            sys.exit(f"bench-heap: no part {part}; there are {', '.join(PARTS)}")
        PARTS[part]()


if __name__ == "__main__":
    main()
