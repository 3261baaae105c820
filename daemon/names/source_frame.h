/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One function at an address, as far as it is known: the one whose code it is, or one inlined
 * there.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	MAX_INLINE_DEPTH = 64
}; /* frames of one address; deeper ones are left out, outermost kept */

struct source_frame {
	/* As the linker has it where it has a name of its own (mangled), else as the source has it.
	 * NULL: not known, but the code's bounds are, see function_address. */
	const char *function;
	/* That as people write it; NULL: it is so already. Only in the daemon, see client.h. */
	const char *readable;
	const char *file;    /* with its folder, as the compiler recorded it; NULL: not known */
	uint32_t line;       /* being executed, or of the inlined call; 0: not known */
	uint32_t start_line; /* of the function; 0: not known */
	uint64_t function_address; /* where the function's code begins; 0: not known, or inlined */
};

/* Told the frames of addresses[index], innermost first, one call for each; strings live until it
 * returns. Stops when it returns non-zero, which is then the result. */
typedef int source_frame_fn(size_t index, const struct source_frame *frame, void *ctx);
