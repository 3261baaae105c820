# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the run.py of system/, web/ and package/ have in common."""

import contextlib
import os
import resource
import sys
import time
import unittest

import cpus
import lacks
import lanes

SLOWEST = 10  # files that are listed at the end


class Result(unittest.TextTestResult):
    """One line per test with the time it took, and the times of files."""

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
        # With what was set up for it.
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
    """Of this process and those that it has waited for."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def busy_seconds():
    """Of all CPUs."""
    ticks = cpus.ticks_so_far()
    return (sum(ticks) - ticks[cpus.IDLE] - ticks[cpus.IOWAIT] - ticks[cpus.STOLEN]) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def timed(what):
    """Says how long the block took, and whether the CPUs were its bound."""
    begun, busy = time.monotonic(), busy_seconds()
    yield
    took = time.monotonic() - begun
    print(f"{what}: {took:.0f} s, CPUs {100 * (busy_seconds() - busy) / took / os.cpu_count():.0f} % busy", flush=True)


def load(folder, names):
    loader = unittest.TestLoader()
    return loader.loadTestsFromNames(names) if names else loader.discover(folder, pattern="test_*.py")


def summarize(result, beside=(0, 0)):
    """Prints it, with how many passed and failed beside it; the exit status. A skipped test counts as failed, and so
    does a run without any."""
    failed = len(result.failures) + len(result.errors) + len(result.skipped)
    failed += len(result.unexpectedSuccesses) + len(result.expectedFailures)
    passed = max(result.testsRun - failed, 0) + beside[0]
    failed += beside[1]
    if passed + failed == 0:
        failed = 1
    print(f"{lacks.summary()}{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


def main(folder, missing, stop):
    """Runs the tests of a folder, or those that the command line names, unless missing() says why not; then stop(),
    whatever happens. The exit status."""
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
        # The first interrupt is the end after this test and its class's clean-up, the second one at once.
        unittest.installHandler()
        with timed("alone") if len(sys.argv) == 1 else contextlib.nullcontext():
            result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(tests)
    finally:
        stop()
    result.print_slowest()
    return summarize(result, beside)
