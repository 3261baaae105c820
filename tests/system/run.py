#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the system tests: all of them, or those named (files, classes, tests).

  tests/system/run.py                          all
  tests/system/run.py test_errors              one file
  tests/system/run.py test_errors.Errors.test_post

Needs root, because profd does. A skipped test counts as failed: what was not run is not known to
work. The last line is the summary.
"""

import os
import shutil
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import daemon  # noqa: E402


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


def missing():
    """Why the tests cannot run here, or None."""
    if os.geteuid() != 0:
        return "the system tests need root: sudo make test-system"
    if not os.access(daemon.PROFD, os.X_OK):
        return f"{daemon.PROFD} is missing: make build"
    path = os.environ["PATH"] + ":/usr/local/go/bin"
    for tool in ("go", "bpftool", "promtool", "protoc", "curl", "addr2line", "debuginfod", "setpriv", "unshare",
                 "man", "mandoc", "zsh", "fish"):
        if shutil.which(tool, path=path) is None:
            return f"{tool} is missing: make deps"
    return None


def run(suite):
    """Runs it and prints the summary; the exit status."""
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.skipped)
    failed += len(result.unexpectedSuccesses) + len(result.expectedFailures)
    passed = max(result.testsRun - failed, 0)
    if passed + failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


def main():
    why = missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    loader = unittest.TestLoader()
    if len(sys.argv) > 1:
        suite = loader.loadTestsFromNames(sys.argv[1:])
    else:
        suite = loader.discover(HERE, pattern="test_*.py")
    try:
        return run(suite)
    finally:
        daemon.stop_shared()


if __name__ == "__main__":
    sys.exit(main())
