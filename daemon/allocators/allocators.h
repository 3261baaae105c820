/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which allocator a process uses, and where its probes go. A process has many functions called
 * malloc: its libc's, that of a preloaded or linked allocator, the dynamic linker's own. The one
 * that calls reach is, in this order, the executable's, that of an allocator known by its own
 * functions (jemalloc, tcmalloc, mimalloc), another library's, and libc's. Allocators whose
 * functions have a prefix (_rjem_malloc in Rust programs) are used beside that one, so they are
 * found in addition.
 *
 * A reader process reads the files: first what the symbols of each say, then where to probe in the
 * few that rank best. So the two structs are also the form of its answers, which are checked before
 * they are used. No state; any thread; reading is slow.
 */
#pragma once

#include "allocators/calls.h"
#include "base/cleanup.h"
#include "elf/elf.h"

#include <stddef.h>

enum {
	MAX_ALLOCATORS = 4,    /* of one process */
	MAX_HEAP_SITES = 96,   /* of one allocator; mimalloc has the most, some 60 */
	MAX_HEAP_RETURNS = 24, /* return instructions of one function */
};

/* ALLOCATOR(NAME, readable name) */
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
		HEAP_ALLOCATOR_COUNT
};

/* What the symbols of a file say. */
struct heap_survey {
	uint32_t marks;   /* MARK_ bits of allocators/allocators_private.h */
	uint32_t machine; /* EM_* */
};

/* One function to probe. All places are file offsets, ready for a uprobe. */
struct heap_site {
	uint64_t function; /* its first byte */
	uint64_t entry;    /* where the arguments are probed: its first byte or somewhat behind */
	/* Only for a function that throws: its return instructions, and those of functions that it
	 * ends in a jump to. At each the stack pointer is what it was at the first byte, and so
	 * identifies the call. */
	uint64_t returns[MAX_HEAP_RETURNS];
	uint32_t return_count;
	uint8_t call; /* enum heap_call */
	/* Bytes by which the stack pointer is below its value at the first byte; 0 wherever a
	 * return probe is allowed. */
	uint8_t pushed;
	uint8_t emulated;    /* the kernel emulates the probed instruction, without single step */
	uint8_t all_returns; /* 0: a call may also leave in a way that is not among `returns` */
};

/* A file's allocator. */
struct heap_allocator {
	uint64_t unprobed; /* functions left out because their code is not understood */
	uint32_t name;     /* enum heap_allocator_name */
	uint32_t site_count;
	struct heap_site sites[MAX_HEAP_SITES];
};

/* -ENOEXEC when it is no ELF file any more; -ENOMEM, also when the symbols exceed their memory
 * limit and the symbols that were read have no allocator. */
int heap_survey_read(const struct elf *elf, struct heap_survey *ret_survey);
int heap_allocator_read(const struct elf *elf, struct heap_allocator *ret_allocator);

/* Whether bytes can be what was read of a file of `file_bytes` bytes, as far as a file may be
 * trusted about itself: all places are in the file. 0 or -EBADMSG. */
int heap_survey_check(const uint8_t *bytes, size_t len);
int heap_allocator_check(const uint8_t *bytes, size_t len, uint64_t file_bytes);

/* The files of a process that allocate, the one that malloc() reaches first; {0} is none. */
struct heap_ranking {
	size_t count;
	struct heap_ranked {
		size_t file;
		uint32_t rank;
	} best[MAX_ALLOCATORS];
};

/* Files are added in the order of their first mapping; `is_program`: the file is /proc/PID/exe.
 * False when it is not among the best, and never will be. */
bool heap_ranking_add(struct heap_ranking *ranking, size_t file, const struct heap_survey *survey,
                      bool is_program);

/* Never NULL for a name of the list. */
const char *heap_allocator_text(enum heap_allocator_name name);
