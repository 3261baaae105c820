#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Do our stacks agree with another unwinder's? Stops busy programs at random moments and has
tests/bpf/oracle compare, frame by frame, our walk with elfutils' over the same registers and memory.

usage: agreement.py [PROGRAM...] [--stops N] [--steps N]

--steps goes on by so many single instructions after each stop. Programs that are not installed are
skipped, and said to be. The exit status is 1 when fewer than 99.9 % of all frames agree.
"""

import argparse
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

import programs  # noqa: E402
from daemon import BUILD  # noqa: E402

LEAST = 99.9
WARM_UP_SECONDS = 2
# The oracle cannot judge these: the invented caller of a coroutine, and stacks that are truncated on purpose.
LEFT_OUT = ("coroutine", "recursion-5000", "vfork")


def pids_of(query):
    """Returns the processes that a /profile query selects, the busiest first."""
    key, value = query.split("=")
    if key == "pid":
        return [int(value)]
    listed = subprocess.run(["ps", "-C", value, "-o", "pid=", "--sort=-time"], check=False, capture_output=True)
    return [int(pid) for pid in listed.stdout.split()]


def measure(name, stops, steps):
    """Runs the oracle on one program. Returns (stops, frames, agreeing frames, whole stacks of both, output)."""
    with programs.PROGRAMS[name]() as query:
        time.sleep(WARM_UP_SECONDS)
        oracle = [os.path.join(BUILD, "tests/bpf/oracle"), str(pids_of(query)[0]), str(stops), f"--steps={steps}"]
        said = subprocess.run(oracle, check=False, capture_output=True, text=True, timeout=900).stdout
    found = re.match(r"(\d+) stops, (\d+) frames compared, ([\d.]+)% agree", said)
    whole = re.search(r"complete stacks: ours ([\d.]+)%, libdw ([\d.]+)%", said)
    if not found:
        raise RuntimeError(f"{name}: the oracle says {said!r}")
    frames = int(found[2])
    return int(found[1]), frames, round(frames * float(found[3]) / 100), whole.groups(), said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PROGRAM")
    parser.add_argument("--stops", type=int, default=500)
    parser.add_argument("--steps", type=int, default=0)
    given = parser.parse_args()
    stops = frames = agreeing = 0
    print(f"{'program':18} {'stops':>6} {'frames':>8} {'agree %':>8} {'whole %':>8} {'libdw %':>8}")
    for name in given.names or [name for name in programs.PROGRAMS if name not in LEFT_OUT]:
        try:
            some_stops, some_frames, some_agreeing, (ours, theirs), said = measure(name, given.stops, given.steps)
        except programs.Missing as missing:
            print(f"{name:18} skipped, not installed: {missing}")
            continue
        stops, frames, agreeing = stops + some_stops, frames + some_frames, agreeing + some_agreeing
        agree = 100 * some_agreeing / max(some_frames, 1)
        print(f"{name:18} {some_stops:6} {some_frames:8} {agree:8.3f} {ours:>8} {theirs:>8}", flush=True)
        if some_agreeing != some_frames:
            print("   " + "\n   ".join(said.splitlines()[1:]), flush=True)
    agree = 100 * agreeing / max(frames, 1)
    print(f"{'all':18} {stops:6} {frames:8} {agree:8.3f}")
    return 0 if frames and agree >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
