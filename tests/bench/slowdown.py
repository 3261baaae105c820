# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures how much more CPU time programs take with a profiler than without.

Every repetition runs each program once under each variant, one directly after the other and in an alternating order, and
gives one ratio per variant. The result is the median of the ratios. Three figures are printed beside it: the quartiles of the
ratios; the ratio of the fastest runs, which other programs on the machine disturb least; and the spread of the first
variant's own times (the median of their distances from their median). A ratio closer to 1 than the spread is noise. The time
is the user and system time of all processes that the program starts, so it contains what interrupts and hooks take from them.
"""

import os
import statistics
import subprocess

from control_group import ControlGroup
from variants import started

TARGET_SECONDS = 0.5  # of CPU time, that each run should take
BLOCK = 6             # rows that share one start of the daemon: compared runs must be close together in time


def run_once(row, count):
    """Returns the CPU seconds of the program, run in its own control group where the host has any."""
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
    """Returns the count with which a run takes TARGET_SECONDS. Its first run is not measured."""
    run_once(row, row.first)
    spent = run_once(row, row.first)
    return max(1, round(row.first * TARGET_SECONDS / max(spent, 1e-3)))


def measure(rows, variants, repetitions, told=lambda line: None):
    """Returns row name -> variant name -> [CPU seconds], one value per repetition."""
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
    """Returns row name -> {"seconds", "spread", "to": variant name -> {"cpu", "quartiles", "quickest"}}; all but "seconds" are
    in percent."""
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
