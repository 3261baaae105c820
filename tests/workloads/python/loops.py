# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Calls Python and C functions for SECONDS, then prints the number of rounds a second."""

import sys
import time


class Shape:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


def key(shape):
    return shape.area()


def numbers(count):
    for i in range(count):
        yield i


def work(depth):
    if depth > 0:
        return work(depth - 1)
    shapes = [Shape(i) for i in numbers(30)]
    return len(sorted(shapes, key=key))


def main(seconds):
    rounds = 0
    start = time.perf_counter()
    end = start + seconds
    while time.perf_counter() < end:
        work(10)
        rounds += 1
    print(rounds / (time.perf_counter() - start), "rounds/s")


print("ready", flush=True)
main(float(sys.argv[1]))
