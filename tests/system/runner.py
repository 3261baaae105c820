# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The common part of run.py in system/, web/ and package/."""

import contextlib
import os
import resource
import sys
import time
import unittest

import cpus
import lacks
import lanes

SLOWEST = 10  # the number of files listed at the end


class Result(unittest.TextTestResult):
    """Prints one line per test with the time it took, and sums up the times of each file."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.of_files, self.before = {}, time.monotonic()

    def startTest(self, test):
        self.started = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        self.stream.writeln(f"ok {time.monotonic() - self.started:.1f} s")
        self.stream.flush()

    def stopTest(self, test):
        super().stopTest(test)
        # The time includes the set-up of the test.
        name, now = type(test).__module__, time.monotonic()
        self.of_files[name] = self.of_files.get(name, 0) + now - self.before
        self.before = now

    def print_slowest(self):
        rows = sorted(((seconds, name) for name, seconds in self.of_files.items()), reverse=True)
        print("seconds by file: " + ", ".join(f"{name} {seconds:.0f}" for seconds, name in rows[:SLOWEST])
              + f"; of CPU time: {own_cpu_seconds():.0f}")

    def getDescription(self, test):
        return test.id()


def own_cpu_seconds():
    """Returns the CPU seconds of this process and of the children that it has waited for."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def busy_seconds():
    """Returns the busy seconds of all CPUs."""
    ticks = cpus.ticks_so_far()
    return (sum(ticks) - ticks[cpus.IDLE] - ticks[cpus.IOWAIT] - ticks[cpus.STOLEN]) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def timed(what):
    """Prints how long the block took, and how busy the CPUs were."""
    begun, busy = time.monotonic(), busy_seconds()
    yield
    took = time.monotonic() - begun
    print(f"{what}: {took:.0f} s, CPUs {100 * (busy_seconds() - busy) / took / os.cpu_count():.0f} % busy", flush=True)


def load(folder, names):
    loader = unittest.TestLoader()
    return loader.loadTestsFromNames(names) if names else loader.discover(folder, pattern="test_*.py")


def summarize(result, beside=(0, 0)):
    """Prints the summary, with the numbers of tests that passed and failed `beside`; returns the exit status. A skipped test
    counts as failed, and so does a run without a test."""
    failed = len(result.failures) + len(result.errors) + len(result.skipped)
    failed += len(result.unexpectedSuccesses) + len(result.expectedFailures)
    passed = max(result.testsRun - failed, 0) + beside[0]
    failed += beside[1]
    if passed + failed == 0:
        failed = 1
    print(f"{lacks.summary()}{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


def main(folder, missing, stop):
    """Runs the tests of a folder, or those that the command line names, unless missing() returns a reason not to. Calls stop()
    in any case. Returns the exit status."""
    why = missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    try:
        tests, beside = load(folder, sys.argv[1:]), (0, 0)
        if len(sys.argv) == 1:
            waiting, busy, tests = lanes.apart(tests)
            with timed("beside each other"):
                beside = lanes.run(waiting, busy)
        # The first interrupt ends the run after the current test and the clean-up of its class; the second ends it at once.
        unittest.installHandler()
        with timed("alone") if len(sys.argv) == 1 else contextlib.nullcontext():
            result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(tests)
    finally:
        stop()
    result.print_slowest()
    return summarize(result, beside)
