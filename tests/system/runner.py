# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the run.py of system/, web/ and package/ have in common."""

import sys
import time
import unittest


class Result(unittest.TextTestResult):
    """One line per test with the time it took."""

    def startTest(self, test):
        self.started = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        self.stream.writeln(f"ok {time.monotonic() - self.started:.1f} s")
        self.stream.flush()

    def getDescription(self, test):
        return test.id()


def load(folder, names):
    loader = unittest.TestLoader()
    return loader.loadTestsFromNames(names) if names else loader.discover(folder, pattern="test_*.py")


def summarize(result):
    """Prints it; the exit status. A skipped test counts as failed, and so does a run without any."""
    failed = len(result.failures) + len(result.errors) + len(result.skipped)
    failed += len(result.unexpectedSuccesses) + len(result.expectedFailures)
    passed = max(result.testsRun - failed, 0)
    if passed + failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


def main(folder, missing, stop):
    """Runs the tests of a folder, or those that the command line names, unless missing() says why not; then stop(),
    whatever happens. The exit status."""
    why = missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    try:
        tests = load(folder, sys.argv[1:])
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(tests)
    finally:
        stop()
    return summarize(result)
