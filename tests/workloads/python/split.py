# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Spends 60 % of its CPU time in a method, 15 % in a generator, 15 % in a function that C calls, 5 % in a
class body and 5 % in a lambda, by its own clock, so the shares do not depend on the version of Python.

split.py [SECONDS [COUNT]]; COUNT is the size of one turn of a part. The clock is read between turns, by a
system call; a profiler that stops the process samples it there more often than its share of the time.

The comment above each part is its stack, from the root. Each part spends its time in its loop only.
"""

import functools
import operator
import sys
import time


# <module> main Work.run Work.middle Work.sixty
class Work:
    def run(self, count):
        return self.middle(count)

    def middle(self, count):
        total = self.sixty(count)
        return total

    def sixty(self, count):
        total = 0
        for i in range(count):
            total += i ^ (total & 7)
            total &= 0xFFFFFF
        return total


# <module> main consume generator
def generator(count):
    total = 0
    for i in range(count):
        total += i ^ (total & 7)
        if i % 1000 == 999:
            yield total


def consume(count):
    for _ in generator(count):
        pass


# <module> main sort_them (C: list.sort) callback
def callback(item):
    total = item
    for i in range(50):
        total ^= i
    return total


def sort_them(count):
    return sorted(range(count // 50), key=callback)


# <module> main define define.<locals>.Body
def define(count):
    class Body:
        total = 0
        for i in range(count):
            total += i ^ (total & 7)
    return Body


# <module> main call_lambda call_lambda.<locals>.<lambda> (C: reduce)
def call_lambda(count):
    add = lambda: functools.reduce(operator.xor, range(count * 2))  # noqa: E731
    return add()


def main(seconds, count):
    parts = [
        (0.60, Work().run), (0.15, consume), (0.15, sort_them), (0.05, define), (0.05, call_lambda),
    ]
    spent = [0.0] * len(parts)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        total = sum(spent)
        # The part that is furthest behind its share.
        lag = [share * total - own for (share, _), own in zip(parts, spent)]
        turn = lag.index(max(lag))
        before = time.process_time()
        parts[turn][1](count)
        spent[turn] += time.process_time() - before


print("ready", flush=True)
main(float((sys.argv[1:] or [600])[0]), int((sys.argv[2:] or [20000])[0]))
