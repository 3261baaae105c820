/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The real allocator behind this library: libc's, or one that is preloaded after it. It is looked
 * up when the first function is called, which is long before main(). Until then each pointer leads
 * to a function that does the look-up; afterwards a call costs one indirect jump and no check.
 *
 * The look-up may itself allocate (dlsym() of glibc before 2.34 does). Such a block comes from a
 * small arena and is never used again: early_owns() identifies these blocks. Their addresses are
 * pinned in the filter of tracked.h, so that free() only needs to check where the filter says
 * maybe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The functions needed of the real allocator: name, type of result, parameters. The other functions
 * are made of these. Functions that take blocks come first, so that a thread that has a block of
 * the real allocator also finds the real functions for it.
 */
#define REAL_FUNCTIONS(X)                          \
	X(free, void, (void *))                    \
	X(realloc, void *, (void *, size_t))       \
	X(malloc, void *, (size_t))                \
	X(calloc, void *, (size_t, size_t))        \
	X(memalign, void *, (size_t, size_t))      \
	X(aligned_alloc, void *, (size_t, size_t)) \
	X(posix_memalign, int, (void **, size_t, size_t))

struct real {
#define REAL_MEMBER(name, type, parameters) type(*name) parameters;
	REAL_FUNCTIONS(REAL_MEMBER)
#undef REAL_MEMBER
};

extern struct real real __attribute__((visibility("hidden")));

bool early_owns(const void *block);

/* realloc() of a block that early_owns() identifies. */
void *early_realloc(void *block, size_t size);
