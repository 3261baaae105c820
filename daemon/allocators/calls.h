/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions by which programs allocate and free memory, written once: what each does with which
 * argument, and its names in allocators. Arguments count from 0. Names and arguments: C17 7.22.3,
 * POSIX, malloc(3), jemalloc(3), gperftools/tcmalloc.h, mimalloc.h, mmap(2), mremap(2); C++
 * operators by the Itanium ABI's mangling. No state.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { HEAP_NONE = 0xff };

enum heap_role {
	HEAP_ALLOCATES,     /* returns the address, or NULL */
	HEAP_ALLOCATES_OUT, /* writes the address to where `pointer` points, and returns 0 */
	HEAP_REALLOCATES,   /* frees `pointer` and returns another; NULL: nothing happened */
	HEAP_FREES,         /* frees `pointer`; nothing for NULL */
	HEAP_MAPS,   /* returns the address, or -1; what counts depends on arguments 2 and 3 */
	HEAP_REMAPS, /* frees `pointer` and returns another; -1: nothing happened */
};

/* CALL(name, role, size argument, argument by which it is multiplied, pointer argument, whether an
 * exception may leave the function instead of a return) */
#define HEAP_CALLS(CALL)                                                  \
	CALL(MALLOC, HEAP_ALLOCATES, 0, HEAP_NONE, HEAP_NONE, false)      \
	CALL(CALLOC, HEAP_ALLOCATES, 1, 0, HEAP_NONE, false)              \
	CALL(ALIGNED, HEAP_ALLOCATES, 1, HEAP_NONE, HEAP_NONE, false)     \
	CALL(POSIX_MEMALIGN, HEAP_ALLOCATES_OUT, 2, HEAP_NONE, 0, false)  \
	CALL(REALLOC, HEAP_REALLOCATES, 1, HEAP_NONE, 0, false)           \
	CALL(REALLOCARRAY, HEAP_REALLOCATES, 2, 1, 0, false)              \
	CALL(FREE, HEAP_FREES, HEAP_NONE, HEAP_NONE, 0, false)            \
	CALL(NEW, HEAP_ALLOCATES, 0, HEAP_NONE, HEAP_NONE, true)          \
	CALL(NEW_NOTHROW, HEAP_ALLOCATES, 0, HEAP_NONE, HEAP_NONE, false) \
	CALL(DELETE, HEAP_FREES, HEAP_NONE, HEAP_NONE, 0, false)          \
	CALL(MMAP, HEAP_MAPS, 1, HEAP_NONE, HEAP_NONE, false)             \
	CALL(MREMAP, HEAP_REMAPS, 2, HEAP_NONE, 0, false)                 \
	CALL(MUNMAP, HEAP_FREES, HEAP_NONE, HEAP_NONE, 0, false)

enum heap_call {
#define CALL(name, role, size, times, pointer, throws) HEAP_CALL_##name,
	HEAP_CALLS(CALL)
#undef CALL
		HEAP_CALL_COUNT
};

struct heap_call_info {
	enum heap_role role;
	uint8_t size, times, pointer; /* arguments, or HEAP_NONE */
	bool throws;                  /* must never get a return probe */
};

/* Never NULL for a call of the list. */
const struct heap_call_info *heap_call_info(enum heap_call call);
/* Whether the call is libc's own, whatever the allocator: it handles pages, and not bytes. */
bool heap_call_is_of_pages(enum heap_call call);
/* The call that a function's name stands for; false: none. `ret_prefixed`: the name is an
 * allocator's own, such as je_malloc, and not the common one. */
bool heap_call_named(const char *name, enum heap_call *ret_call, bool *ret_prefixed);
