# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Decides which test files run at the same time.

Tests that mostly wait declare a LANE, the name of their queue, for a file or for a class in it. The tests of a lane run one
after another in one process. All lanes start together, before the other tests. A test may have a lane only if it works with
the little CPU time that other tests leave it, and judges nothing but its own daemon and its own programs. A test that acts on
all daemons of the host through one user may have a lane, because such a user must not affect the other tests' daemons. A test
has no lane if it attaches more than one daemon can take, stops processes of other users, or acts as root, as the others do.

Tests that keep a CPU busy declare BESIDE = True. Each such file runs in its own process, as many at once as there are CPUs; one
CPU is left to the lanes until few lanes are running. Such tests judge the contents of profiles, not how soon profiles come or
what they cost, and nothing of the host but their own programs. Files that take nearly a minute declare LONG and start first.

All other tests run alone. The output of a process is printed when the process has ended.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MANY_LANES = 4  # so many running lanes need a CPU
BUSY_NICE = -5  # of files that run beside others: three times the weight of a lane


def tests_of(suite):
    """Yields the single tests of a nested suite."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from tests_of(part)
        else:
            yield part


def lane_of(test):
    return getattr(test, "LANE", getattr(sys.modules[type(test).__module__], "LANE", None))


def add(runs, name, test):
    runs.setdefault(name, {})[f"{type(test).__module__}.{type(test).__name__}"] = True


def apart(suite):
    """Returns (classes of each lane, classes of each file that runs beside others, the suite of all other tests)."""
    lanes, files, others = {}, {}, unittest.TestSuite()
    for test in tests_of(suite):
        lane, file = lane_of(test), type(test).__module__
        if lane:
            add(lanes, lane, test)
        elif getattr(sys.modules[file], "BESIDE", False):
            add(files, file, test)
        else:
            others.addTest(test)
    order = sorted(files, key=lambda file: not getattr(sys.modules[file], "LONG", False))
    return list(lanes.values()), [files[file] for file in order], others


class Run:
    """Some test classes that run in their own process."""

    def __init__(self, classes, busy=False):
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen([sys.executable, sys.argv[0], *classes], stdout=self.output, stderr=self.output,
                                        start_new_session=True)  # so that only close() interrupts it
        if busy:
            # Otherwise its programs together would get no more CPU time than one lane: sched(7), "The autogroup feature".
            with contextlib.suppress(OSError), open(f"/proc/{self.process.pid}/autogroup", "w", encoding="ascii") as group:
                group.write(str(BUSY_NICE))

    def ended(self):
        """Prints the output of the process; returns how many tests passed and failed."""
        status = self.process.wait()
        self.output.seek(0)
        text = self.output.read()
        print(text, end="", flush=True)
        summary = re.search(r"^(\d+) passed, (\d+) failed\n\Z", text, re.M)
        # A process without a summary, or with a bad exit status, has at least one failure.
        failed = max(int(summary.group(2)) if summary else 1, status != 0)
        return int(summary.group(1)) if summary else 0, failed

    def close(self):
        if self.process.poll() is None:
            # An interrupted process ends its current test and cleans up; otherwise its daemons would keep running.
            self.process.send_signal(signal.SIGINT)
            self.process.wait()
        self.output.close()


def files_at_once(lanes):
    """Returns how many files may run at once beside so many lanes."""
    return max(1, os.cpu_count() - (lanes >= MANY_LANES))


def end_one(running, counts):
    """Removes one process that has ended, if there is one, and adds its results to [passed, failed]."""
    ended = next((one for one in running if one.process.poll() is not None), None)
    if not ended:
        return False
    running.remove(ended)
    for at, count in enumerate(ended.ended()):
        counts[at] += count
    ended.close()
    return True


def run(lanes, files):
    """Runs all lanes and files, each a list of classes; returns how many tests passed and failed."""
    waiting, busy, counts = [Run(lane) for lane in lanes], [], [0, 0]
    try:
        while waiting or busy or files:
            if files and len(busy) < files_at_once(len(waiting)):
                busy.append(Run(files[0], busy=True))
                files = files[1:]
            elif not end_one(waiting, counts) and not end_one(busy, counts):
                time.sleep(0.1)
    finally:
        for one in waiting + busy:
            one.close()
    return counts
