/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a function returns: for those that an exception may leave, because the kernel's return
 * probe replaces the return address, and an unwinder that meets it ends the process. Found by
 * following every jump from the function's first byte, into its cold parts and into functions that
 * it ends in a jump to. x86-64. No state; code is untrusted; any thread.
 */
#pragma once

#include "heap/stubs.h"
#include "object/elf.h"

enum {
	MAX_RETURN_STEPS = 4096, /* instructions looked at */
	MAX_RETURN_PIECES = 8,   /* functions and parts of functions gone through */
	MAX_RETURN_CALLS = 64,   /* calls kept */
};

struct returns {
	size_t count;
	uint64_t *at; /* own addresses, ascending; `max` of them given by the caller */
	size_t max;
	size_t lookups; /* of bounds that may be made, each of which reads the file's call frame
	                 * information; counted down */
	bool complete;  /* no way out of the function was left unfollowed */
	/* Functions that it calls or ends in a jump to; not all when there are more. */
	size_t call_count;
	uint64_t calls[MAX_RETURN_CALLS];
};

/* `size` 0: as long as call frame information says. 0 when at least one was found. -ENOTSUP when
 * there is none that can be found, or this is another machine; -ENOMEM. */
int returns_find(const struct elf *elf, const struct stubs *stubs, uint64_t address, uint64_t size,
                 struct returns *returns);
