# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Installs the programs that unwind.py measures: from Debian's archive, and numpy from PyPI."""

import os
import shutil
import subprocess
import sys

from programs import PYTHON, QUIET, VENV

PACKAGES = (
    "redis-server redis-tools sqlite3 openssl xz-utils gcc-12 python3.11 python3.11-venv nodejs nginx-light wrk "
    "postgresql postgresql-contrib linux-perf musl-tools rustc"
).split()


def install():
    """Installs the programs with apt and pip; no service is started."""
    policy = "/usr/sbin/policy-rc.d"
    ours = not os.path.exists(policy)
    if ours:
        with open(policy, "w", encoding="ascii") as script:
            script.write("#!/bin/sh\nexit 101\n")
        os.chmod(policy, 0o755)
    try:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "-qq", "update"], check=True, env=environment)
        missing = [
            name for name in PACKAGES
            if subprocess.run(["dpkg", "-s", name], check=False, **QUIET).returncode != 0
            and not (name == "rustc" and shutil.which("rustc"))
        ]
        if missing:
            print("installing", *missing, file=sys.stderr)
            subprocess.run(
                ["apt-get", "-qq", "-y", "--no-install-recommends", "install", *missing],
                check=True, env=environment,
            )
    finally:
        if ours:
            os.unlink(policy)
    if not os.path.exists(f"{VENV}/bin/python"):
        subprocess.run([PYTHON, "-m", "venv", VENV], check=True)
        subprocess.run([f"{VENV}/bin/pip", "install", "-q", "numpy"], check=True)
