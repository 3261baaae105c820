# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which files of tests are run beside each other.

Those that mostly wait say so by a LANE: the name of what runs it; a class in it may say otherwise. What is in a lane comes one
after another, in a process of its own; all lanes run at the same time, before all others. Only tests that do with what little
of the CPUs the others leave them, and that judge nothing but their own daemon and its programs, may have one.

Then come those that keep a CPU busy and say BESIDE = True: as many at once as there are CPUs, each file in a process of its
own. They judge what profiles say, not how soon they come or what they cost, and nothing of the host but their own programs.

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
    # The longest are late in the alphabet, and are to begin first.
    return list(lanes.values()), [files[name] for name in sorted(files, reverse=True)], others


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


def run(runs, at_once=os.cpu_count()):
    """Runs some of them at once, each a list of classes; how many tests passed and failed."""
    waiting, running, passed, failed = list(runs), [], 0, 0
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(Run(waiting.pop(0)))
            ended = next((one for one in running if one.process.poll() is not None), None)
            if not ended:
                time.sleep(0.1)
                continue
            counts = ended.ended()
            passed, failed = passed + counts[0], failed + counts[1]
            running.remove(ended)
            ended.close()
    finally:
        for one in running:
            one.close()
    return passed, failed
