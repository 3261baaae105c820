# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How much CPU time programs take with a profiler, over what they take without.

Every repetition runs each program once under each variant, one right after the other and in an order that alternates,
and has a ratio for each. The result is the median of the ratios; beside it are the quartiles of the ratios, the ratio
of the quickest runs, which a neighbour on the same machine disturbs least, and the spread of the first variant's own
times (the median of their distances from their median): a ratio nearer to 1 than that is noise. The time is user and
system time, of all that the program starts, so it contains what interrupts and hooks took from it.
"""

import os
import statistics
import subprocess

from control_group import ControlGroup
from variants import started

TARGET_SECONDS = 0.5  # of CPU, that each run is to take
BLOCK = 6             # rows for which a daemon is started once: what is compared is not to be far apart in time


def run_once(row, count):
    """CPU seconds of the program, in a control group of its own if there are any."""
    with ControlGroup(row.name) as group:
        before = group.cpu_seconds()
        process = subprocess.Popen(
            group.joined(row.command(count)), env={**os.environ, **row.environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        after = group.cpu_seconds()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{row.name}: exit {process.returncode}")
    return after - before if after is not None else usage.ru_utime + usage.ru_stime


def sized(row):
    """The count with which a run takes TARGET_SECONDS; also the run that nobody counts because it is the first."""
    run_once(row, row.first)
    spent = run_once(row, row.first)
    return max(1, round(row.first * TARGET_SECONDS / max(spent, 1e-3)))


def measure(rows, variants, repetitions, told=lambda line: None):
    """row name -> variant name -> [CPU seconds], one for each repetition."""
    values = {row.name: {variant.name: [] for variant in variants} for row in rows}
    for first in range(0, len(rows), BLOCK):
        block = rows[first:first + BLOCK]
        counts = {row.name: sized(row) for row in block}
        for repetition in range(repetitions):
            told(f"{', '.join(counts)}: {repetition + 1} of {repetitions}")
            turn = repetition % len(variants)
            order = variants[turn:] + variants[:turn]
            if repetition // len(variants) % 2:
                order.reverse()
            for variant in order:
                with started(variant):
                    for row in block:
                        values[row.name][variant.name].append(run_once(row, counts[row.name]))
    return values


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive")[::2] if len(values) > 1 else values * 2


def compared(values, variants):
    """row name -> {"seconds", "spread", "to": variant name -> {"cpu", "quartiles", "quickest"}}, all but the first in
    percent."""
    base, *others = (variant.name for variant in variants)
    results = {}
    for row, runs in values.items():
        without, to = runs[base], {}
        middle = statistics.median(without)
        for other in others:
            ratios = [100 * (b / a - 1) for a, b in zip(without, runs[other])]
            to[other] = {"cpu": statistics.median(ratios), "quartiles": quartiles(ratios),
                         "quickest": 100 * (min(runs[other]) / min(without) - 1)}
        spread = 100 * statistics.median(abs(spent / middle - 1) for spent in without)
        results[row] = {"seconds": middle, "spread": spread, "to": to}
    return results
