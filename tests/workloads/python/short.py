# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Uses 300 ms of CPU time in <module> main short_lived, and exits."""

import time


def short_lived():
    total = 0
    for i in range(10000):
        total = (total * 31 + i) & 0xFFFF
    return total


def main():
    start = time.process_time()
    while time.process_time() - start < 0.3:
        short_lived()


main()
