# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Makes calls in every way that Python has. Comments say which functions each line calls, so that a stack can
be checked by itself; system/python_truth.py reads the comments.

  # -> a b        this line calls a and b, directly or through C; `<lambda>` and the like are those
                  written on this line; * is code of the standard library
  # <- *          on the line of a def: the standard library calls this function
"""

import functools
import sys
import threading
import time


def burn(count):
    total = 0
    for i in range(count):
        total = (total * 31 + i) & 0xFFFF
    return total


def leaf(count):
    return burn(count)  # -> burn


def other_leaf(count):
    total = 0
    for i in range(count):
        if i & 1:
            total += i
        else:
            total ^= i
    return total


# ---- recursion
def recursion(depth):
    if depth == 0:
        return leaf(60)  # -> leaf
    if depth & 1:
        return recursion(depth - 1)  # -> recursion
    return recursion_twin(depth - 1)  # -> recursion_twin


def recursion_twin(depth):
    value = recursion(depth - 1) if depth > 0 else other_leaf(60)  # -> recursion other_leaf
    return value


# ---- generators
def numbers(count):
    for i in range(count):
        burn(15)  # -> burn
        yield i


def delegating(count):
    other_leaf(10)  # -> other_leaf
    yield from numbers(count)  # -> numbers


def uses_generators():
    total = sum(numbers(10))  # -> numbers
    for number in delegating(10):  # -> delegating
        total += number
    return total + sum(leaf(5) for _ in range(5))  # -> <genexpr> leaf


def sends():
    generator = receiver()  # -> receiver
    next(generator)  # -> receiver
    for i in range(10):
        generator.send(i)  # -> receiver
    generator.close()  # -> receiver


def receiver():
    try:
        while True:
            got = yield
            burn(got)  # -> burn
    finally:
        other_leaf(20)  # -> other_leaf


# ---- comprehensions
def comprehensions():
    rows = [leaf(i) for i in range(10)]  # -> <listcomp> leaf
    table = {i: other_leaf(i) for i in range(10)}  # -> <dictcomp> other_leaf
    some = {burn(i) for i in range(10)}  # -> <setcomp> burn
    return len(rows) + len(table) + len(some)


# ---- called by C
def key(item):
    return burn(item)  # -> burn


class Ordered:
    def __init__(self, value):
        self.value = value
        burn(5)  # -> burn

    def __lt__(self, other):
        other_leaf(8)  # -> other_leaf
        return self.value < other.value


def sorts():
    found = sorted(range(20), key=key)  # -> key
    found = sorted([Ordered(9), Ordered(3), Ordered(5), Ordered(1)])  # -> __init__ __lt__
    return found


def add(left, right):
    return (burn(8) + left + right) & 0xFFFF  # -> burn


def maps():
    total = list(map(key, range(10)))  # -> key
    total = list(filter(key, range(10)))  # -> key
    total = list(map(lambda i: leaf(i), range(10)))  # -> <lambda> leaf
    total = functools.reduce(add, range(10))  # -> add
    partial = functools.partial(add, 3)
    total += partial(4)  # -> add
    return total


# ---- decorators
def traced(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        burn(5)  # -> burn
        return function(*arguments)  # -> decorated twice wrapper
    return wrapper


@traced
def decorated(count):
    return burn(count)  # -> burn


@traced
@traced
def twice(count):
    return other_leaf(count)  # -> other_leaf


def calls_decorated():
    decorated(30)  # -> wrapper
    twice(30)  # -> wrapper


# ---- exceptions
def raises(depth):
    burn(5)  # -> burn
    if depth == 0:
        raise KeyError(depth)
    try:
        return raises(depth - 1)  # -> raises
    finally:
        other_leaf(10)  # -> other_leaf


class Context:
    def __enter__(self):
        burn(10)  # -> burn
        return self

    def __exit__(self, *unused):
        return other_leaf(10) >= 0  # -> other_leaf


def exceptions():
    try:
        raises(3)  # -> raises
    except KeyError:
        leaf(20)  # -> leaf
    with Context():  # -> __enter__ __exit__
        burn(10)  # -> burn
        raises(2)  # -> raises __exit__


# ---- classes
class Dynamic:
    def __getattr__(self, name):
        return burn(len(name) * 3)  # -> burn

    @property
    def computed(self):
        return leaf(30)  # -> leaf

    @staticmethod
    def static(count):
        return burn(count)  # -> burn

    @classmethod
    def of_class(cls, count):
        return cls.static(count)  # -> static

    def __call__(self, count):
        return self.of_class(count)  # -> of_class

    def __eq__(self, other):
        return other_leaf(20) >= 0  # -> other_leaf

    def __len__(self):
        return burn(20) & 0xFF  # -> burn


class Derived(Dynamic):
    def __call__(self, count):
        return super().__call__(count)  # -> __call__


def classes():
    thing = Derived()
    thing.no_such_attribute  # -> __getattr__
    thing.computed  # -> computed
    thing(30)  # -> __call__
    [thing] == [Derived()]  # -> __eq__
    len(thing)  # -> __len__

    class Body:  # -> Body
        value = burn(20)  # -> burn
        other = [other_leaf(i) for i in range(5)]  # -> <listcomp> other_leaf
    return Body


# ---- code made at run time, without a file
MADE = compile("def made(count):\n    return burn(count)\n\n\nmade(30)\n", "<made>", "exec")


def executes():
    exec(MADE, {"burn": burn})  # -> <module>
    return eval("leaf(30)")  # -> <module>


def closures():
    def inner(count):
        return more(count)  # -> more

    def more(count):
        return burn(count)  # -> burn
    return inner(30)  # -> inner


def spread(first, second=2, *rest, third=3, **others):
    return burn(10 + first + second + third)  # -> burn


def arguments():
    spread(1, *[2, 3], **{"fourth": 4})  # -> spread
    return spread(*range(3), third=leaf(5))  # -> spread leaf


ALL = (
    lambda: recursion(12), uses_generators, sends, comprehensions, sorts, maps, calls_decorated,  # -> recursion
    exceptions, classes, executes, closures, arguments,
)


def everything(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for function in ALL:
            function()  # -> any


def thread_main(seconds):  # <- *
    everything(seconds)  # -> everything


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    print("ready", flush=True)
    threading.Thread(target=thread_main, args=(seconds,), daemon=True).start()  # -> *
    everything(seconds)  # -> everything


main()  # -> main
