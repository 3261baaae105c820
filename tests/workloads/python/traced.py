# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs under a trace function: <module> main work, and often tracer, called from work."""

import sys


def tracer(frame, event, argument):
    total = 0
    for i in range(20):
        total ^= i
    return tracer


def work(count):
    total = 0
    for i in range(count):
        total = (total * 31 + i) & 0xFFFF
    return total


def main():
    while True:
        work(1000)


print("ready", flush=True)
sys.settrace(tracer)
main()
