# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which files of tests are run beside each other.

Those that mostly wait say so by a LANE: the name of what runs it; a class in it may say otherwise. What is in a lane comes one
after another, in a process of its own; all lanes begin at once, before all others. Only tests that do with what little of the
CPUs the others leave them, and that judge nothing but their own daemon and its programs, may have one. What a user does there
to all daemons of the host is no matter to others, or they would suffer from it; but who tells more than one daemon can take,
stops processes of somebody else, or is root, as others are, has none.

Those that keep a CPU busy say BESIDE = True: each file in a process of its own, as many at once as there are CPUs, but for one
that is the lanes' until few of them are left. They judge what profiles say, not how soon they come or what they cost, and
nothing of the host but their own programs. Those that take nearly a minute are LONG, and begin first.

All others are alone. What a process prints comes when it has ended.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MANY_LANES = 3  # that use a CPU together


def tests_of(suite):
    """The single tests of a suite of suites."""
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
    """(classes of each lane, classes of each file that is run beside others, the suite of all other tests)."""
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
    """Some classes of tests in a process of their own."""

    def __init__(self, classes):
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen([sys.executable, sys.argv[0], *classes], stdout=self.output, stderr=self.output,
                                        start_new_session=True)  # interrupted by us, once

    def ended(self):
        """Prints what it printed; how many tests passed and failed."""
        status = self.process.wait()
        self.output.seek(0)
        text = self.output.read()
        print(text, end="", flush=True)
        summary = re.search(r"^(\d+) passed, (\d+) failed\n\Z", text, re.M)
        # One that did not come to its end has failed, whatever it said.
        failed = max(int(summary.group(2)) if summary else 1, status != 0)
        return int(summary.group(1)) if summary else 0, failed

    def close(self):
        if self.process.poll() is None:
            # It ends the test that it is at, and cleans up: its daemons would stay else.
            self.process.send_signal(signal.SIGINT)
            self.process.wait()
        self.output.close()


def files_at_once(lanes):
    """How many, beside so many lanes."""
    return max(1, os.cpu_count() - (lanes >= MANY_LANES))


def end_one(running, counts):
    """Whether one of them has ended, and is counted: [passed, failed]."""
    ended = next((one for one in running if one.process.poll() is not None), None)
    if not ended:
        return False
    running.remove(ended)
    for at, count in enumerate(ended.ended()):
        counts[at] += count
    ended.close()
    return True


def run(lanes, files):
    """Runs all of them, each a list of classes; how many tests passed and failed."""
    waiting, busy, counts = [Run(lane) for lane in lanes], [], [0, 0]
    try:
        while waiting or busy or files:
            if files and len(busy) < files_at_once(len(waiting)):
                busy.append(Run(files[0]))
                files = files[1:]
            elif not end_one(waiting, counts) and not end_one(busy, counts):
                time.sleep(0.1)
    finally:
        for one in waiting + busy:
            one.close()
    return counts
