/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_world - an imaginary process that runs CPython: a native stack written as a string,
 * the Python frames that run on it, and the structures between them, in a layout that no CPython
 * has.
 *
 * A native stack is written leaf first: e is a frame of the interpreter's loop, c another function,
 * r the outermost one. Python functions are letters. Function a is at byte 2 of its bytecode, b at
 * byte 4, and so on.
 */
#pragma once

#include "base/cleanup.h"
#include "tests/bpf/recorded.h"

/* Addresses. */
#define PY_INTERPRETERS 0x10000ULL
#define PY_INTERPRETER  0x20000ULL
#define PY_GIL          0x30000ULL
#define PY_THREAD       0x40000ULL
#define PY_CODES        0x200000ULL
#define PY_TEXTS        0x300000ULL
#define PY_POINTER      0x7f1234500700ULL
#define PY_FRAME(at)    (0x1000000ULL + (at)*0x40ULL)
#define PY_CODE(letter) (PY_CODES + ((u64)(letter) - 'a') * 0x100)
#define PY_NAME(letter) (PY_TEXTS + ((u64)(letter) - 'a') * 0x40)
#define PY_FILE         (PY_TEXTS + 0x10000ULL)
#define PY_LINES        (PY_TEXTS + 0x20000ULL)

/* Offsets in bytes of the fields of each structure. */
enum {
	AT_INTERPRETER_NEXT = 0,
	AT_INTERPRETER_THREADS = 8,
	AT_INTERPRETER_GIL = 16,
	AT_THREAD_NEXT = 0,
	AT_THREAD_ID = 8,
	AT_THREAD_FRAME = 24,
	AT_THREAD_TOP = 32,
	AT_CFRAME_CURRENT = 0,
	AT_CFRAME_PREVIOUS = 8,
	AT_FRAME_PREVIOUS = 0,
	AT_FRAME_CODE = 8,
	AT_FRAME_INSTRUCTION = 16,
	AT_FRAME_OWNER = 24,
	AT_FRAME_ENTRY = 25,
	AT_FRAME_TLBC = 28,
	AT_CODE_FILE = 0,
	AT_CODE_NAME = 8,
	AT_CODE_FIRST_LINE = 24,
	AT_CODE_LINES = 32,
	AT_CODE_TLBC = 40,
	AT_CODE_BYTECODE = 64,
};

enum { PY_MAX_TOLD = 64, PY_TOLD_BYTES = 1024, PY_MAX_LOOPS = 512 };

/* One report of a code object, with its texts as they came in the message. */
struct python_told {
	struct python_code code;
	size_t len;
	char texts[PY_TOLD_BYTES];
};

struct python_world {
	struct world *world;
	struct memory *memory;
	struct walker_python python;
	u64 entries[PY_MAX_LOOPS + 1]; /* an address in each e's frame, leaf first */
	u64 pc;
	struct python_told told[PY_MAX_TOLD];
	size_t told_count;
	struct python_thread_told thread; /* the last one reported */
	size_t thread_count;
	bool ring_full;
	struct walker_result result;
};

/* The native stack, and the functions that each e runs, leaf first. */
struct python_plan {
	u8 entry;
	bool cframes; /* 3.12: the cframes of 3.11 and 3.12 beside the shim frames */
	const char *native;
	const char *runs[8];
};

struct python_world *python_world_new(const struct python_plan *plan); /* asserts */
void python_world_free(struct python_world *world);
DEFINE_CLEANUP(struct python_world *, python_world_free)

void python_put(struct python_world *world, u64 address, u64 word); /* asserts */
/* Walks, and returns the stack as text: c, e and r as above, L for a loop that is marked as one,
 * and "name+offset" for a Python frame. */
const char *python_walk_text(struct python_world *world);
