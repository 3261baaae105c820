#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the tests of the page in a browser: all of them, or the named files, classes or tests.

  make test-web
  BUILD=build build/web-venv/bin/python tests/web/run.py test_timeline.Timeline.test_drag

Needs root, because profd does. All tests of a lane share one browser, one daemon and one workload. A skipped test
counts as failed. The last line is the summary.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "system")]
sys.dont_write_bytecode = True

import harness  # noqa: E402
import runner  # noqa: E402

if __name__ == "__main__":
    sys.exit(runner.main(HERE, harness.missing, harness.stop))
