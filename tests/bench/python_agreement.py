#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures how many Python frames are right, of a script that calls in every way Python has, for each version.

  make agreement-python              every Python that is installed
  tests/bench/python_agreement.py 3.8 3.13
  SAMPLES=20000                      at least 5000 by default

Each two consecutive frames must be a call that the source has at that line, and each frame a function that the interpreter
itself finds there: system/python_truth.py. At least 99.9 % must be right.
"""

import contextlib
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from daemon import CPUS, Daemon  # noqa: E402
from python_truth import Truth, Verdict, verdict  # noqa: E402
from pythons import name_of, pythons, script  # noqa: E402
from warm_up import warm_up  # noqa: E402
from workload import Workload  # noqa: E402

SAMPLES = int(os.environ.get("SAMPLES", "5000"))
MOST_WRONG = 0.001
HZ = 999
SECONDS = 5
ROUNDS = 20


def add(one, other):
    return Verdict(one.samples + other.samples, one.pairs + other.pairs, one.wrong + other.wrong,
                   sorted(one.examples + other.examples, key=lambda e: -e[0])[:5])


def measure(python):
    """Returns a Verdict over at least SAMPLES samples of as many processes as there are CPUs."""
    path = script("edges")
    truth, found = Truth(python, path), Verdict(0, 0, 0, [])
    with contextlib.ExitStack() as stack:
        workloads = [stack.enter_context(Workload(python.path, path)) for _ in range(CPUS)]
        server = stack.enter_context(Daemon(hz=HZ))
        warm_up(server)
        pids = {workload.pid for workload in workloads}
        for _ in range(ROUNDS):
            profile = server.profile(f"seconds={SECONDS}&" + "&".join(f"pid={pid}" for pid in pids))
            found = add(found, verdict(truth, profile))
            if found.samples >= SAMPLES:
                break
    return found


def main():
    if os.geteuid() != 0:
        sys.exit("python_agreement.py: needs root: sudo make agreement-python")
    failed = False
    for python in pythons():
        if sys.argv[1:] and python.label not in sys.argv[1:]:
            continue
        found = measure(python)
        share = found.wrong / max(found.pairs, 1)
        bad = share > MOST_WRONG or found.samples < SAMPLES
        failed |= bad
        print(f"{name_of(python):50} {100 * (1 - share):8.4f} % of {found.pairs} pairs in {found.samples} samples",
              "FAILED" if bad else "", flush=True)
        for count, what, names in found.examples[:3 if bad else 1]:
            print(f"    {count} x {what[:2]} in {';'.join(reversed(names))[-400:]}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
