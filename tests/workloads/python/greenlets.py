# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Two greenlets take turns: first_green first_work and second_green second_work, which never mix. The native
stack of the one that does not run is saved elsewhere. With the argument "gevent", gevent's greenlets.
"""

import sys


def spin():
    total = 0
    for i in range(20000):
        total = (total * 31 + i) & 0xFFFF
    return total


def first_work(switch):
    spin()
    switch()


def second_work(switch):
    spin()
    switch()


def first_green(switch):
    while True:
        first_work(switch)


def second_green(switch):
    while True:
        second_work(switch)


def main():
    print("ready", flush=True)
    if sys.argv[1:] == ["gevent"]:
        import gevent

        def give_way():
            gevent.sleep(0)
        gevent.joinall([gevent.spawn(first_green, give_way), gevent.spawn(second_green, give_way)])
        return
    import greenlet

    first = greenlet.greenlet(lambda: first_green(lambda: second.switch()))
    second = greenlet.greenlet(lambda: second_green(lambda: first.switch()))
    first.switch()


main()
