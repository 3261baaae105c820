# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Three threads, each in a function of its own: the first in <module> main main_spins, the others in
first_thread first_spins and second_thread second_spins, called from threading's Thread.run.
"""

import threading


def spin():
    total = 0
    for i in range(20000):
        total = (total * 31 + i) & 0xFFFF
    return total


def main_spins():
    while True:
        spin()


def first_spins():
    while True:
        spin()


def second_spins():
    while True:
        spin()


def first_thread():
    first_spins()


def second_thread():
    second_spins()


def main():
    for target in (first_thread, second_thread):
        threading.Thread(target=target, daemon=True).start()
    print("ready", flush=True)
    main_spins()


main()
