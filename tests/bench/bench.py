#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures what profd costs at its defaults, in one run on this machine.

  make bench                                    all parts, some 12 minutes; the results also go to build/bench.json
  PARTS="slowdown own" make bench               some parts of: slowdown own sample start tables
  ROWS="touch fork" REPETITIONS=7 make bench    only the slowdown of these programs
  VARIANTS="off; old = PATH/profd; new" ...     other builds and settings side by side: variants.py

One file measures each part and describes how: slowdown.py, own_cost.py, sample_cost.py, start_cost.py, table_time.py.
"""

import json
import os
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "system"), HERE]

import control_group  # noqa: E402
import cpus  # noqa: E402
import own_cost  # noqa: E402
import report  # noqa: E402
import sample_cost  # noqa: E402
import slowdown  # noqa: E402
import start_cost  # noqa: E402
import table_time  # noqa: E402
import variants  # noqa: E402
from daemon import BUILD, CPUS, HZ  # noqa: E402
from rows import all_rows  # noqa: E402

REPETITIONS = int(os.environ.get("REPETITIONS", "20"))


def busy_before(seconds=2):
    """Returns the percent of CPU time that other programs use before the measurement."""
    def times():
        ticks = cpus.ticks_so_far()
        return sum(ticks), ticks[cpus.IDLE] + ticks[cpus.IOWAIT]
    (total, idle), _ = times(), time.sleep(seconds)
    after, idle_after = times()
    return 100 - 100 * (idle_after - idle) / max(after - total, 1)


def told(line):
    """Shows the progress on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K  {line}", end="", file=sys.stderr, flush=True)


def slowdown_part(compared):
    with tempfile.TemporaryDirectory() as folder:
        rows, missing = all_rows(folder)
        wanted = os.environ.get("ROWS", "").split()
        unknown = set(wanted) - {row.name for row in rows}
        if unknown:
            sys.exit(f"bench: no such row: {', '.join(sorted(unknown))}; there are {', '.join(row.name for row in rows)}")
        if wanted:
            rows = [row for row in rows if row.name in wanted]
        result = slowdown.compared(slowdown.measure(rows, compared, REPETITIONS, told), compared)
    told("")
    report.slowdown(rows, result, REPETITIONS)
    for line in missing:
        print(f"  skipped: {line}")
    return result


def part_of_each(module, printed):
    """Returns a part that is measured for one variant after the other, except those without a daemon."""
    def part(compared):
        results = {}
        for variant in compared:
            if variant.name not in ("off", *variants.FLOORS):
                results[variant.name] = module.measure(variant, told)
                told("")
                printed(variant.name, results[variant.name])
        return results
    return part


MEASURES = {
    "slowdown": slowdown_part,
    "own": part_of_each(own_cost, report.own),
    "sample": part_of_each(sample_cost, report.sample),
    "start": part_of_each(start_cost, report.start),
    "tables": part_of_each(table_time, report.tables),
}


def main():
    if os.geteuid() != 0:
        sys.exit("bench: needs root: sudo make bench")
    sys.stdout.reconfigure(line_buffering=True)
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit("bench: stopped"))  # so that the programs it has started end as well
    try:
        compared = variants.parse(os.environ.get("VARIANTS", "off; on"))
    except ValueError as error:
        sys.exit(f"bench: {error}")
    parts = os.environ.get("PARTS", "slowdown" if os.environ.get("ROWS") else " ".join(MEASURES)).split()
    if set(parts) - set(MEASURES):
        sys.exit(f"bench: PARTS are of: {' '.join(MEASURES)}")
    if not control_group.counts("cpuacct"):
        parts = [part for part in parts if part not in ("own", "start")]
    started = time.monotonic()
    print(f"{CPUS} CPUs, Linux {os.uname().release}, {HZ} Hz; {control_group.described()}")
    busy = busy_before()
    print(f"before anything is measured {busy:.0f} % of the CPUs are busy" +
          (": the machine is NOT QUIET, and what follows is of it as well" if busy > 5 else ""))
    results = {"cpus": CPUS, "kernel": os.uname().release, "hz": HZ, "busy_before": busy,
               "at": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
    path = os.path.join(BUILD, "bench.json")
    for part in parts:
        results[part] = MEASURES[part](compared)
        with open(path, "w", encoding="ascii") as file:  # after each part, in case the run is stopped
            json.dump(results, file, indent=1)
    print(f"{time.monotonic() - started:.0f} s; also in {os.path.relpath(path)}")


if __name__ == "__main__":
    main()
