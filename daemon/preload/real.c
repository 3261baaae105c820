/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds the real allocator, and replaces it until it is found. */
#include "preload/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

#include "preload/sampler.h"
#include "preload/tracked.h"

#define ARENA_SIZE 8192
#define ALIGNMENT  16

/* ---- the arena ----------------------------------------------------------------------------- */

struct early_block {
	size_t size;
	_Alignas(ALIGNMENT) unsigned char bytes[];
};

static _Alignas(ALIGNMENT) unsigned char arena[ARENA_SIZE];
static size_t arena_used;

bool early_owns(const void *block)
{
	return (uintptr_t)block - (uintptr_t)arena < sizeof(arena);
}

/* The bytes of a block are 0, because none are used twice. */
static void *early_alloc(size_t alignment, size_t size)
{
	size_t whole, at;
	uintptr_t bytes;

	if (size > ARENA_SIZE || alignment > ARENA_SIZE)
		goto full;
	alignment = alignment < ALIGNMENT ? ALIGNMENT : alignment;
	whole = sizeof(struct early_block) + alignment +
	        (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	at = __atomic_fetch_add(&arena_used, whole, __ATOMIC_RELAXED);
	if (at > ARENA_SIZE - whole)
		goto full;
	bytes = (uintptr_t)(arena + at + sizeof(struct early_block) + alignment - 1) &
	        ~(alignment - 1);
	((struct early_block *)(bytes - sizeof(struct early_block)))->size = size;
	tracked_pin((void *)bytes);
	return (void *)bytes;
full:
	errno = ENOMEM;
	return NULL;
}

void *early_realloc(void *block, size_t size)
{
	size_t had = ((struct early_block *)((char *)block - sizeof(struct early_block)))->size;
	unsigned char *moved = real.malloc(size);

	if (moved)
		__builtin_memcpy(moved, block, had < size ? had : size);
	return moved;
}

/* ---- looking up ---------------------------------------------------------------------------- */

static __thread bool looking __attribute__((tls_model("initial-exec")));

/*
 * False inside of the look-up itself. Threads that come here at the same time all look up, and find
 * the same: waiting for each other could be a deadlock, since dlsym() takes the dynamic linker's
 * lock and threads that hold that lock allocate.
 */
static bool look_up(void)
{
	struct real found = {0};

	if (looking)
		return false;
	looking = true;
#define LOOK_UP(name, type, parameters) *(void **)&found.name = dlsym(RTLD_NEXT, #name);
	REAL_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	/* All pointers are set at the end, or a block from dlsym() could reach another
	 * allocator. */
#define TAKE_UP(name, type, parameters) \
	if (found.name)                 \
		__atomic_store_n(&real.name, found.name, __ATOMIC_RELEASE);
	REAL_FUNCTIONS(TAKE_UP)
#undef TAKE_UP
	looking = false;
	return true;
}

static void *first_malloc(size_t size)
{
	return look_up() ? real.malloc(size) : early_alloc(ALIGNMENT, size);
}

static void *first_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (look_up())
		return real.calloc(n, size);
	return early_alloc(ALIGNMENT, __builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
}

static void *first_realloc(void *block, size_t size)
{
	return look_up() ? real.realloc(block, size) : early_alloc(ALIGNMENT, size);
}

/* A block that is freed during the look-up is an early block, or one that cannot have been
 * allocated. */
static void first_free(void *block)
{
	if (block && look_up())
		real.free(block);
}

static void *first_memalign(size_t alignment, size_t size)
{
	return look_up() ? real.memalign(alignment, size) : early_alloc(alignment, size);
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
	return look_up() ? real.aligned_alloc(alignment, size) : early_alloc(alignment, size);
}

static int first_posix_memalign(void **block, size_t alignment, size_t size)
{
	if (look_up())
		return real.posix_memalign(block, alignment, size);
	*block = early_alloc(alignment, size);
	return *block ? 0 : ENOMEM;
}

struct real real = {
#define REAL_FIRST(name, type, parameters) .name = first_##name,
	REAL_FUNCTIONS(REAL_FIRST)
#undef REAL_FIRST
};
