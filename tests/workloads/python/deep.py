# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Calls itself as many times as the argument says: <module> start down ... down bottom."""

import sys


def bottom():
    total = 0
    for i in range(20000):
        total = (total * 31 + i) & 0xFFFF
    return total


def down(depth):
    if depth > 0:
        return down(depth - 1)
    while True:
        bottom()


def start():
    return down(int(sys.argv[1]))


sys.setrecursionlimit(5000)
print("ready", flush=True)
start()
