# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""execs.py SECONDS INTERPRETER: spins in before_exec for SECONDS of CPU time, then executes INTERPRETER
with this script, which spins in after_exec.
"""

import os
import sys
import time


def spin():
    total = 0
    for i in range(20000):
        total = (total * 31 + i) & 0xFFFF
    return total


def before_exec(seconds):
    while time.process_time() < seconds:
        spin()


def after_exec():
    while True:
        spin()


if len(sys.argv) > 2:
    print("ready", flush=True)
    before_exec(float(sys.argv[1]))
    os.execv(sys.argv[2], [sys.argv[2], sys.argv[0]])
after_exec()
