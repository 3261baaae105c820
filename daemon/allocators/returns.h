/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a function returns, for functions that an exception may leave. The kernel's return probe
 * replaces the return address, and an unwinder that meets that address ends the process. The return
 * instructions are found by following every jump from the function's first byte, into its cold
 * parts and into the functions to which it jumps at its end. x86-64. No state; code is untrusted;
 * any thread.
 */
#pragma once

#include "allocators/stubs.h"
#include "elf/elf.h"

enum {
	MAX_RETURN_STEPS = 4096, /* instructions looked at */
	MAX_RETURN_PIECES = 8,   /* functions and parts of functions followed */
	MAX_RETURN_CALLS = 64,   /* calls kept */
};

struct returns {
	size_t count;
	uint64_t *at; /* own addresses, ascending; the caller gives room for `max` of them */
	size_t max;
	/* Look-ups of bounds that may still be made, counted down. Each reads the file's call frame
	 * information. */
	size_t lookups;
	bool complete; /* every way out of the function was followed */
	/* Functions that it calls or ends in a jump to; not all of them when there are more. */
	size_t call_count;
	uint64_t calls[MAX_RETURN_CALLS];
};

/* `size` 0: the size is taken from call frame information. 0 when at least one return was found.
 * -ENOTSUP when none can be found, or this is another machine; -ENOMEM. */
int returns_find(const struct elf *elf, const struct stubs *stubs, uint64_t address, uint64_t size,
                 struct returns *returns);
