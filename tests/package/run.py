#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the tests of the package: all of them, or the named files, classes or tests.

  make test-package
  BUILD=build VERSION=0.1.0 python3 tests/package/run.py test_package.Installed.test_reload

Needs root. A skipped test counts as failed. The last line is the summary.
"""

import os
import shutil
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "system")]
sys.dont_write_bytecode = True

import machine  # noqa: E402
import runner  # noqa: E402


def missing():
    """Returns why the tests cannot run on this host, or None."""
    if os.geteuid() != 0:
        return "the tests of the package need root: sudo make test-package"
    for tool in ("debootstrap", "systemd-nspawn", "dpkg-deb", "lintian", "nsenter"):
        if shutil.which(tool) is None:
            return f"{tool} is missing: make deps-package"
    if not os.path.exists(machine.package()):
        return f"{machine.package()} is missing: make deb"
    return None


if __name__ == "__main__":
    # Makes SIGTERM raise an exception, as SIGINT does, so that the machines are still stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(runner.main(HERE, missing, machine.stop_all))
