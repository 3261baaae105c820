# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Truth: three lines allocate 6, 3 and 1 of 10 bytes and keep them: the one marked "list" in grow_list(), the one
marked "dict" in grow_dict(), and the one marked "array" in grow_array(), which calls numpy. Together 5 MiB a second,
in blocks of 3 KiB, which CPython takes from malloc. Runs until killed or for SECONDS.
"""

import sys
import time

import numpy

BLOCK = 3000
ROUNDS_A_SECOND = 170


class Grower:
    def __init__(self):
        self.strings, self.table, self.arrays = [], {}, []

    def grow_list(self):
        self.strings.append(bytes(BLOCK))  # list

    def grow_dict(self, key):
        self.table[key] = "x" * BLOCK  # dict

    def grow_array(self):
        self.arrays.append(numpy.empty(BLOCK, dtype=numpy.uint8))  # array

    def round(self, number):
        for i in range(6):
            self.grow_list()
        for i in range(3):
            self.grow_dict(number * 3 + i)
        self.grow_array()


def main():
    stop = time.monotonic() + float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")
    grower = Grower()
    print("ready", flush=True)
    number = 0
    while time.monotonic() < stop:
        grower.round(number)
        number += 1
        time.sleep(1 / ROUNDS_A_SECOND)


if __name__ == "__main__":
    main()
