#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the tests of the page in a browser: all of them, or those named (files, classes, tests).

  make test-web
  BUILD=build build/web-venv/bin/python tests/web/run.py test_timeline.Timeline.test_drag

Needs root, because profd does. One browser, one daemon and one workload serve all tests. A skipped test
counts as failed. The last line is the summary.
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "system")]
sys.dont_write_bytecode = True

import harness  # noqa: E402


def load(names):
    loader = unittest.TestLoader()
    if names:
        return loader.loadTestsFromNames(names)
    return loader.discover(HERE, pattern="test_*.py")


def main():
    why = harness.missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    try:
        result = unittest.TextTestRunner(
            stream=sys.stdout, verbosity=2, resultclass=harness.Result).run(load(sys.argv[1:]))
    finally:
        harness.stop()
    failed = len(result.failures) + len(result.errors) + len(result.skipped)
    failed += len(result.unexpectedSuccesses) + len(result.expectedFailures)
    passed = max(result.testsRun - failed, 0)
    if passed + failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
