#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the sieges: all of them, or the named files, classes or tests.

  make test-siege
  tests/siege/run.py test_siege_users.HostileUsers.test_tellers

They are tests of the whole daemon like those of tests/system, on CPUs that nothing else uses. Needs root. A skipped test counts as
failed. The last line is the summary.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SYSTEM = os.path.join(os.path.dirname(HERE), "system")
sys.path[:0] = [HERE, SYSTEM]
sys.dont_write_bytecode = True

import daemon  # noqa: E402
import runner  # noqa: E402
import tools  # noqa: E402

if __name__ == "__main__":
    sys.exit(runner.main(HERE, tools.missing, daemon.stop_shared))
