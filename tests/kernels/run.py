#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs profd on other kernels, in guests: those of the named series, or of a few by default.

  tests/kernels/run.py                  SERIES
  tests/kernels/run.py 6.1 6.12
  tests/kernels/run.py all              every series that Debian has

README.md in this folder describes what is needed and how it works.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "system")]
sys.dont_write_bytecode = True

import guest  # noqa: E402
import judge  # noqa: E402
import packages  # noqa: E402

SERIES = ("5.10", "6.1", "6.12")
OLDEST = (5, 17)  # the oldest that profd supports
MULTI_UPROBES = (6, 10)  # older kernels attach uprobes as perf events
SESSIONS = ("root", "capable")
# The highest level of kernel.perf_event_paranoid in the upstream kernel. Debian adds level 3, where CAP_PERFMON is not enough.
PARANOIA = 2


def judge_session(folder, others):
    """Returns {what was judged: (whether it holds, a few words)}; `others` replaces some of the judges."""
    found = {}
    for one in judge.JUDGES:
        try:
            found[one.__name__] = (True, others.get(one, one)(folder))
        except (AssertionError, OSError, ValueError, KeyError, IndexError, EOFError) as error:
            found[one.__name__] = (False, f"{type(error).__name__}: {error}")
    return found


def judge_guest(folder, release):
    """Yields rows of the table: (session, what was judged, whether it holds, a few words)."""
    version = tuple(map(int, packages.series(release).split(".")))
    refusals = []
    if version < OLDEST:
        refusals = [(name, "5.17") for name in SESSIONS]
    elif int(judge.text(folder, "paranoia")) > PARANOIA:
        refusals = [("forbidden", "perf_event_paranoid")]
    for session, because in refusals:
        try:
            yield session, "refused", True, judge.refused(os.path.join(folder, session), because)
        except (AssertionError, OSError) as error:
            yield session, "refused", False, str(error)
    if version < OLDEST:
        return
    for session in SESSIONS:
        others = {}
        if session == "capable" and version < MULTI_UPROBES:
            others = judge.JUDGES_OF_FEW
        for what, (holds, words) in judge_session(os.path.join(folder, session), others).items():
            yield session, what, holds, words


def run_one(series, image):
    """Tests the newest kernel of a series and prints the results; returns how many checks failed."""
    start = time.monotonic()
    try:
        kernel = packages.kernel(series)
    except packages.Missing as error:
        print(f"{series}:\n  FAILED   {error}", flush=True)
        return 1
    release = os.path.basename(kernel)[len("vmlinuz-"):]
    print(f"{release}:", flush=True)
    try:
        folder = guest.boot(release, kernel, image)
        rows = list(judge_guest(folder, release))
    except AssertionError as error:
        print(f"  FAILED   {error}")
        return 1
    failed = 0
    for session, what, holds, words in rows:
        print(f"  {'ok' if holds else 'FAILED':<8} {session:<9} {what:<8} {words}")
        failed += not holds
    if failed:
        print(f"  what it left is in {folder}")
    print(f"  {time.monotonic() - start:.0f} s", flush=True)
    return failed


def main():
    wanted = sys.argv[1:] or SERIES
    if wanted == ["all"]:
        wanted = packages.all_series()
    image = guest.make_image()
    failed = sum(run_one(series, image) for series in wanted)
    print(f"{len(wanted)} kernels, {failed} things failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
