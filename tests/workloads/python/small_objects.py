# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Truth: three lines keep 6, 3 and 1 of 10 bytes of small objects, MIB MiB in all: the one marked "bytes" in
keep_bytes(), the one marked "tuple" in keep_tuples(), and the one marked "short" in keep_short(). The sizes are
multiples of 16, so CPython does not round them, and small enough for CPython's own arenas. The lists that hold the
objects exist from the start. Each line of standard input allocates all objects ("keep") or frees them ("drop"), and is
echoed when that is done. With --truth the program prints the number of bytes that tracemalloc counts instead.
"""

import sys
import tracemalloc

MIB = 60
BYTES = 112 - sys.getsizeof(b"")
SHORT = 64 - sys.getsizeof(b"")
COUNTS = {"bytes": MIB * 2**20 * 6 // 10 // 112, "tuple": MIB * 2**20 * 3 // 10 // 64, "short": MIB * 2**20 // 10 // 64}

kept = {name: [None] * count for name, count in COUNTS.items()}


def keep_bytes(into):
    for i in range(len(into)):
        into[i] = bytes(BYTES)  # bytes


def keep_tuples(into):
    for i in range(len(into)):
        into[i] = (into, i & 1, None)  # tuple


def keep_short(into):
    for i in range(len(into)):
        into[i] = bytes(SHORT)  # short


def keep():
    keep_bytes(kept["bytes"])
    keep_tuples(kept["tuple"])
    keep_short(kept["short"])


def drop():
    for into in kept.values():
        for i in range(len(into)):
            into[i] = None


def main():
    if sys.argv[1:] == ["--truth"]:
        tracemalloc.start()
        keep()
        print(tracemalloc.get_traced_memory()[0])
        return
    print("ready", flush=True)
    for line in sys.stdin:
        {"keep": keep, "drop": drop}[line.strip()]()
        print(line.strip(), flush=True)


if __name__ == "__main__":
    main()
