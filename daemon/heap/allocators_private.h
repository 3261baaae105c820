/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files behind allocators.h share: what the symbols of a file say.
 */
#pragma once

#include "heap/allocators.h"

/* Functions that tell what a file is, and that nothing else defines. */
enum {
	MARK_LIBC = 1 << 0,
	MARK_GLIBC = 1 << 1,
	MARK_LOADER = 1 << 2, /* a dynamic linker; musl's is its libc, too */
	MARK_JEMALLOC = 1 << 3,
	MARK_TCMALLOC = 1 << 4,
	MARK_MIMALLOC = 1 << 5,
	MARK_THROWS = 1 << 6, /* the C++ library is in it, with operators that call malloc() */
};

struct function_found {
	enum heap_call call;
	bool prefixed;
	uint64_t address, size;
};

struct survey {
	uint32_t marks;
	bool has_malloc, has_free; /* under these names */
	bool allocates, frees;     /* under names with a prefix */
	size_t count, overflow;
	struct function_found functions[MAX_HEAP_SITES];
};

/* Fills in the sites. 0, or -ENOMEM. */
int heap_sites_find(const struct elf *elf, const struct survey *survey,
                    struct heap_allocator *allocator);
