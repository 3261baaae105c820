# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Files of tests that mostly wait are run beside each other, before all others.

A file says so by a LANE: the name of what runs it; a class in it may say otherwise. What is in a lane comes one after
another, in a process of its own; all lanes run at the same time. Only tests that do with what little of the CPUs the
others leave them, and that judge nothing but their own daemon and its programs, may have one. What a lane prints comes
when it has ended.
"""

import re
import signal
import subprocess
import sys
import tempfile
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


def apart(suite):
    """(lane -> names of its classes, the suite of all other tests)."""
    lanes, others = {}, unittest.TestSuite()
    for test in tests_of(suite):
        lane = lane_of(test)
        if lane:
            lanes.setdefault(lane, {})[f"{type(test).__module__}.{type(test).__name__}"] = True
        else:
            others.addTest(test)
    return {lane: list(classes) for lane, classes in lanes.items()}, others


def run(lanes):
    """Runs them; how many tests passed and failed."""
    running, passed, failed = [], 0, 0
    try:
        for classes in lanes.values():
            output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
            command = [sys.executable, sys.argv[0], *classes]
            running.append((subprocess.Popen(
                command, stdout=output, stderr=output, start_new_session=True  # interrupted by us, once
            ), output))
        for process, output in running:
            status = process.wait()
            output.seek(0)
            text = output.read()
            print(text, end="", flush=True)
            summary = re.search(r"^(\d+) passed, (\d+) failed\n\Z", text, re.M)
            passed += int(summary.group(1)) if summary else 0
            # One that did not come to its end has failed, whatever it said.
            failed += max(int(summary.group(2)) if summary else 1, status != 0)
    finally:
        for process, output in running:
            if process.poll() is None:
                # It ends the test that it is at, and cleans up: its daemons would stay else.
                process.send_signal(signal.SIGINT)
                process.wait()
            output.close()
    return passed, failed
