/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One function at an address, as far as it is known: the function that contains the code, or one
 * that is inlined there.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MAX_INLINE_DEPTH = 64 }; /* frames of one address; with more, the innermost are left out */

struct source_frame {
	/* The linkage name (mangled) when there is one, otherwise the name in the source. NULL: not
	 * known, although the bounds of the code may be; see function_address. */
	const char *function;
	/* Its readable form; NULL: `function` is readable. Only in the daemon; see client.h. */
	const char *readable;
	const char *file;    /* with its folder, as the compiler recorded it; NULL: not known */
	uint32_t line;       /* being executed, or of the inlined call; 0: not known */
	uint32_t start_line; /* of the function; 0: not known */
	uint64_t function_address; /* start of the function's code; 0: not known, or inlined */
};

/* Called once for each frame of addresses[index], innermost first; strings live until it returns. A
 * non-zero return value ends the look-up and becomes its result. */
typedef int source_frame_fn(size_t index, const struct source_frame *frame, void *ctx);
