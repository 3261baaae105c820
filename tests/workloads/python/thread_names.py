# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Threads with all kinds of names. Each thread runs a function of its own, which identifies its name:

named          worker-7
defaulted      the default name by threading: Thread-1, from 3.10 on Thread-1 (defaulted)
changed        after; the thread is called "before" until it renames itself after two seconds
of_a_subclass  sü☃; the object has attributes of its own, set before and after Thread's
with_a_dict    dict-holder; the object's __dict__ has been requested
of_nobody      none: started by _thread; Python makes up the name Dummy-1 on request
main_work      MainThread
in_child       MainThread of a forked child
of_child       child-worker, in that child
forked_there   forker, in a child that this thread has forked
in_sub         sub-worker, of a subinterpreter

With the argument "short": one thread after another, each called short-N, which runs short_N for 0.2 s.
"""

import _thread
import os
import sys
import threading
import time

BODY = """
def {name}(until=float("inf")):
    total = 0
    while time.monotonic() < until and is_wanted():
        for i in range(20000):
            total += i ^ (total & 7)
        time.sleep({rest})
"""
SUB = """
import threading, time
def in_sub():
    total = 0
    while True:
        for i in range(20000):
            total += i ^ (total & 7)
        time.sleep(0.02)
thread = threading.Thread(target=in_sub, name="sub-worker")
thread.start()
thread.join()
"""


parent = 0


def is_wanted():
    """Always True; a child whose parent was killed exits here instead."""
    if parent and os.getppid() != parent:
        os._exit(0)
    return True


def fork():
    """Forks. True in the child."""
    global parent
    this = os.getpid()
    if os.fork():
        return False
    parent = this
    return True


def spin(name, rest=0.02):
    """Makes a function of this name. It sleeps between rounds, so that each thread gets the GIL."""
    exec(compile(BODY.format(name=name, rest=rest), __file__, "exec"), globals())
    return globals()[name]


class Thread(threading.Thread):
    def __init__(self):
        self.earlier = 1
        super().__init__(name="s\xfc\u2603", daemon=True)
        self.later = 2

    def run(self):
        spin("of_a_subclass")()


def change():
    spin("unchanged")(time.monotonic() + 2)
    threading.current_thread().name = "after"
    spin("changed")()


def made_up():
    threading.current_thread()
    spin("of_nobody")()


def fork_there():
    if fork():
        spin("forked_there")()


def start(target, **options):
    thread = threading.Thread(target=target, daemon=True, **options)
    thread.start()
    return thread


def child():
    start(spin("of_child"), name="child-worker")
    spin("in_child")()


def in_another_interpreter():
    try:
        if sys.version_info >= (3, 13):
            import _interpreters as interpreters
            interpreters.exec(interpreters.create("legacy"), SUB)
        else:
            import _xxsubinterpreters as interpreters
            options = {} if sys.version_info < (3, 9) else {"isolated": False}
            interpreters.run_string(interpreters.create(**options), SUB)
    except Exception as error:
        print("no other interpreter:", error, file=sys.stderr)


def run_short():
    for number in range(1000000):
        function = spin(f"short_{number}", 0)
        thread = threading.Thread(target=function, args=(time.monotonic() + 0.2,), name=f"short-{number}")
        thread.start()
        thread.join()


def main():
    # Forks while there is no other thread.
    if fork():
        child()
    start(spin("defaulted"))
    start(spin("named"), name="worker-7")
    start(change, name="before")
    Thread().start()
    holder = start(spin("with_a_dict"), name="dict-holder")
    vars(holder)["more"] = 1
    _thread.start_new_thread(made_up, ())
    start(fork_there, name="forker")
    start(in_another_interpreter)
    spin("main_work")()


print("ready", flush=True)
if sys.argv[1:] == ["short"]:
    run_short()
else:
    main()
