/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement allocators.h: the functions found in a file.
 */
#pragma once

#include "allocators/allocators.h"

/* What a file is, identified by functions that nothing else defines; and which functions it has. */
enum {
	MARK_LIBC = 1 << 0,
	MARK_GLIBC = 1 << 1,
	MARK_LOADER = 1 << 2, /* a dynamic linker; in musl that is also the libc */
	MARK_JEMALLOC = 1 << 3,
	MARK_TCMALLOC = 1 << 4,
	MARK_MIMALLOC = 1 << 5,
	MARK_THROWS = 1 << 6, /* it contains the C++ library, whose operators call malloc() */
	MARK_MALLOC = 1 << 7, /* it has malloc() under this name */
	MARK_FREE = 1 << 8,
	MARK_OTHER_MALLOC = 1 << 9, /* it allocates under names with a prefix */
	MARK_OTHER_FREE = 1 << 10,
	MARKS_ALL = (1 << 11) - 1,
};

struct function_found {
	enum heap_call call;
	bool prefixed;
	uint64_t address, size;
};

struct found {
	uint32_t marks;
	size_t count, overflow;
	struct function_found functions[MAX_HEAP_SITES];
};

/* Fills in the sites. 0, or -ENOMEM. */
int heap_sites_find(const struct elf *elf, const struct found *found,
                    struct heap_allocator *allocator);
