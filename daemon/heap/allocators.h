/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which allocator a process uses, and where probes on it go. A process has many functions called
 * malloc: its libc's, that of a preloaded or linked allocator, the dynamic linker's own. The one
 * that calls reach is, in this order, the executable's, that of an allocator known by its own
 * functions (jemalloc, tcmalloc, mimalloc), another library's, and libc's. Allocators under a
 * prefix of their own (_rjem_malloc in Rust programs) are used besides, and so are found besides.
 * No state; files are untrusted; any thread, and slow: it reads symbols and decodes code.
 */
#pragma once

#include "base/cleanup.h"
#include "heap/calls.h"
#include "object/elf.h"

#include <stddef.h>

enum {
	MAX_ALLOCATORS = 4,    /* of one process */
	MAX_HEAP_SITES = 96,   /* of one allocator; mimalloc has the most, some 60 */
	MAX_HEAP_RETURNS = 24, /* return instructions of one function */
};

/* A file that the process has mapped, in the order of its first mapping. */
struct heap_file {
	const struct elf *elf;
	bool is_program; /* /proc/PID/exe */
};

/* ALLOCATOR(NAME, as people call it) */
#define HEAP_ALLOCATORS(ALLOCATOR)      \
	ALLOCATOR(GLIBC, "glibc")       \
	ALLOCATOR(MUSL, "musl")         \
	ALLOCATOR(JEMALLOC, "jemalloc") \
	ALLOCATOR(TCMALLOC, "tcmalloc") \
	ALLOCATOR(MIMALLOC, "mimalloc") \
	ALLOCATOR(OTHER, "an allocator")

enum heap_allocator_name {
#define ALLOCATOR(name, text) HEAP_##name,
	HEAP_ALLOCATORS(ALLOCATOR)
#undef ALLOCATOR
};

/* One function to probe. All places are file offsets, ready for a uprobe. */
struct heap_site {
	enum heap_call call;
	uint64_t function; /* its first byte */
	uint64_t entry;    /* where its arguments are probed: at its first byte or a bit behind */
	uint32_t pushed;   /* bytes that the stack pointer is below its place at the first byte;
	                    * 0 wherever a return probe is allowed */
	bool emulated;     /* the kernel emulates the instruction probed, and does not step it */
	/* Only for what throws: its return instructions, and those of what it ends in a jump to. At
	 * each the stack pointer is what it was at the first byte, and so tells calls apart. */
	bool all_returns; /* false: a call may also leave in a way that is not among them */
	size_t return_count;
	uint64_t returns[MAX_HEAP_RETURNS];
};

struct heap_allocator {
	size_t file; /* place in the list given */
	enum heap_allocator_name name;
	size_t unprobed; /* functions left out: their code is not understood */
	size_t site_count;
	struct heap_site sites[MAX_HEAP_SITES];
};

/* The allocators of a process, the one that malloc() reaches first. How many, 0 when there is none,
 * or -ENOMEM. Free *ret_allocators. */
int heap_allocators(const struct heap_file *files, size_t count,
                    struct heap_allocator **ret_allocators);
const char *heap_allocator_text(enum heap_allocator_name name);
