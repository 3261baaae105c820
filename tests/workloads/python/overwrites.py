# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""overwrites.py SEED: overwrites the interpreter's data about the running calls, and then spins in C for a
while, so that all samples find the damaged data. Any exit status is fine.
"""

import ctypes
import hashlib
import os
import random
import resource
import struct
import sys

WORD = 8


def read_word(address):
    return int.from_bytes(ctypes.string_at(address, WORD), "little")


def write_word(address, word):
    ctypes.memmove(address, struct.pack("<Q", word & (2**64 - 1)), WORD)


def frame_at(frame):
    """Address of the interpreter's frame: the frame object, or from 3.11 on the structure it points to."""
    return id(frame) if sys.version_info < (3, 11) else read_word(id(frame) + 3 * WORD)


def some_word(choice, near):
    return choice([
        0, 1, 8, near, near + 1, near - 8, 2**63, 2**64 - 1, 2**47 - 8, 0xFFFFFFFF81000000, 0x7FFFFFFFF000,
        random.getrandbits(64), random.getrandbits(47), random.getrandbits(16),
    ])


def scribble(at, size, times):
    """Overwrites words after an object's header; the header stays intact, so the object is not freed."""
    for _ in range(times):
        offset = random.randrange(2, size // WORD) * WORD
        write_word(at + offset, some_word(random.choice, at))


def spoil():
    """Damages the callers' frames and code objects. This function's own must survive one more call."""
    caller = sys._getframe(2)
    kind = random.randrange(5)
    code = caller.f_code
    if kind == 0:
        scribble(id(code), sys.getsizeof(code), random.randrange(1, 30))
    elif kind == 1:
        scribble(frame_at(caller), 9 * WORD, random.randrange(1, 6))
    elif kind == 2:
        # Makes a cycle: the caller's previous frame becomes the frame that it called.
        for word in range(1, 8):
            if read_word(frame_at(caller) + word * WORD) == frame_at(caller.f_back):
                write_word(frame_at(caller) + word * WORD, frame_at(sys._getframe(1)))
    elif kind == 3:
        for text in (code.co_name, code.co_filename):
            scribble(id(text), 48, 6)
    else:
        table = getattr(code, "co_linetable", None) or code.co_lnotab
        scribble(id(table), max(len(table) + 32, 40), 20)


def burn():
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 250000)


def inner(step):
    spoil()
    step()
    os._exit(0)


def outer(step):
    inner(step)


def outermost(step):
    outer(step)


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
random.seed(int(sys.argv[1]))
outermost(burn)
