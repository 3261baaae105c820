#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures what libprofd-cuda.so adds to a launch, in a program that does nothing but launch, with stand-ins for CUPTI and
the GPU. The figures therefore contain neither what CUPTI adds nor what a launch costs without it.

  make bench-cuda-helper                  REPETITIONS=7 SECONDS=2 by default
"""

import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from daemon import BUILD, CPUS, Daemon  # noqa: E402

REPETITIONS = int(os.environ.get("REPETITIONS", "7"))
SECONDS = float(os.environ.get("SECONDS", "2"))
FOLDER = os.path.join(BUILD, "tests", "cuda_helper")
LIBRARY = os.path.join(BUILD, "libprofd-cuda.so")
WAYS = ("without", "nobody listens", "profd listens")


def launch_ns(way):
    environment = {**os.environ, **({} if way == "without" else {"CUDA_INJECTION64_PATH": LIBRARY})}
    run = subprocess.run(
        [os.path.join(FOLDER, "kernels"), os.path.join(FOLDER, "libcupti.so.12"), str(SECONDS), "fast"],
        env=environment, capture_output=True, text=True, check=True)
    seconds, launches, _ = run.stdout.split("\n")[1].split()
    return float(seconds) / int(launches) * 1e9


def main():
    values = {way: [] for way in WAYS}
    for repetition in range(REPETITIONS):
        for way in WAYS[repetition % 2:2] + WAYS[:repetition % 2]:
            values[way].append(launch_ns(way))
        with Daemon():
            launch_ns("profd listens")  # by then the daemon has found the file
            values["profd listens"].append(launch_ns("profd listens"))
    print(f"{CPUS} CPUs, Linux {os.uname().release}")
    print(f"ns a launch by the stand-in (medians of {REPETITIONS} interleaved repetitions of {SECONDS:g} s)")
    base = statistics.median(values["without"])
    for way in WAYS:
        median = statistics.median(values[way])
        print(f"  {way:16} {median:8.0f} {median - base:+8.0f}")
    spread = statistics.median(abs(value - base) for value in values["without"])
    print(f"  {'spread without':16} {spread:8.0f}")


if __name__ == "__main__":
    main()
