#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""CPython's structures, forged by a Python program in its own memory: THREADS thread states in front of its own, in a list
whose head changes all the time, so that each walk searches all of them; FRAMES frames above its own, of which each has
another code object at each tick. CPython 3.11 to 3.13.

The walk must end soon, wherever it takes place: the scheduler waits for it. Other users' Python programs keep their names.

  forged_python.py THREADS FRAMES
"""

import ctypes
import gc
import struct
import sys
import threading

# Offsets: PyThreadState.cframe, _PyCFrame.current_frame, _PyInterpreterFrame.f_code, .previous. 3.13 has no cframe, but
# PyThreadState.current_frame.
LAYOUTS = {(3, 11): (56, 8, 32, 48), (3, 12): (56, 0, 0, 8), (3, 13): (0, 72, 0, 8)}
PREVIOUS, NEXT, INTERPRETER = 0, 8, 16  # of PyThreadState
FRAME_BYTES, THREAD_BYTES, CODE_BYTES, INTERPRETER_BYTES = 96, 512, 256, 32768
FIRST_LINE = 0x5EED


def word(address, value=None):
    """Reads or writes the word at an address of this process."""
    at = ctypes.c_uint64.from_address(address)
    if value is not None:
        at.value = value
    return at.value


def find(address, size, wanted):
    """Returns the address of a value in memory."""
    return address + ctypes.string_at(address, size).index(wanted)


def copies(address, size, count):
    """Returns that many copies of some bytes, and the address of the first."""
    buffer = ctypes.create_string_buffer(ctypes.string_at(address, size) * count, size * count)
    return buffer, ctypes.addressof(buffer)


def insert(before, offset, first, size, count):
    """Links structures, each of which has its successor at the offset, into a list."""
    after = word(before + offset)
    for i in range(count):
        word(first + i * size + offset, first + (i + 1) * size if i + 1 < count else after)
    if count:
        word(before + offset, first)


def forge_threads(newest, count):
    """Puts thread states between the newest one and the next. Returns where the interpreter has the head of the list."""
    buffer, first = copies(newest, THREAD_BYTES, count)
    ctypes.memset(first, 0, THREAD_BYTES * count)
    insert(newest, NEXT, first, THREAD_BYTES, count)
    interpreter = word(newest + INTERPRETER)
    return buffer, find(interpreter, INTERPRETER_BYTES, struct.pack("<Q", newest))


def forge_frames(frame, offsets, count):
    """Puts frames above one that will never return. Returns the code objects, and where each has its first line."""
    at_code, at_previous = offsets
    code = word(frame + at_code)
    line = find(code, CODE_BYTES, struct.pack("<I", FIRST_LINE)) - code
    codes, first_code = copies(code, CODE_BYTES, count)
    frames, first = copies(frame, FRAME_BYTES, count)
    for i in range(count):
        word(first + i * FRAME_BYTES + at_code, first_code + i * CODE_BYTES)
    insert(frame, at_previous, first, FRAME_BYTES, count)
    return codes, frames, line


def spin(threads, frames):
    state = ctypes.pythonapi.PyThreadState_Get
    state.restype = ctypes.c_void_p
    own = state()
    at_cframe, at_current, *offsets = LAYOUTS[sys.version_info[:2]]
    newest = own
    while word(newest + PREVIOUS):
        newest = word(newest + PREVIOUS)
    kept, head = forge_threads(newest, threads)
    # Not by word(), which has a frame of its own.
    current = (word(own + at_cframe) if at_cframe else own) + at_current
    frame = ctypes.c_uint64.from_address(current).value
    codes, kept_too, line = forge_frames(frame, offsets, frames)
    heads = (newest, word(newest + NEXT))
    turn, put, sizes = 0, struct.Struct("<I").pack_into, range(line, CODE_BYTES * frames, CODE_BYTES)
    print("ready", flush=True)
    while True:
        turn += 1
        word(head, heads[turn & 1])
        for at in sizes:
            put(codes, at, FIRST_LINE + turn & 0xFFFFFF)


def main():
    gc.disable()
    for _ in range(2):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    spin(int(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    spin.__code__ = spin.__code__.replace(co_firstlineno=FIRST_LINE)
    main()
