# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Eight worker processes, each in pool_task pool_spins. The argument names the start method."""

import multiprocessing
import sys


def pool_spins():
    total = 0
    for i in range(200000):
        total = (total * 31 + i) & 0xFFFF
    return total


def pool_task(_):
    for _ in range(100):
        pool_spins()


def main():
    with multiprocessing.get_context(sys.argv[1]).Pool(8) as pool:
        print("ready", flush=True)
        for _ in pool.imap_unordered(pool_task, range(1000000)):
            pass


if __name__ == "__main__":
    main()
