#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the system tests: all of them, or the named files, classes or tests.

  tests/system/run.py                          all
  tests/system/run.py test_errors              one file
  tests/system/run.py test_errors.Errors.test_post

Needs root, because profd does. A skipped test counts as failed: a test that has not run proves nothing. The last line is the
summary.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import daemon  # noqa: E402
import runner  # noqa: E402
import tools  # noqa: E402

if __name__ == "__main__":
    sys.exit(runner.main(HERE, tools.missing, daemon.stop_shared))
