/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libprofd-heap.so: the allocation functions that a program calls instead of its allocator's when
 * this library is preloaded, and the two probes that they hit:
 *
 *     otel_memory:alloc(ptr, size, weighted_bytes)   a sampled allocation has succeeded
 *     otel_memory:free(ptr)                          one of those is about to be freed
 *
 * These are OpenTelemetry's contract for memory profiling, so any profiler that knows it may
 * listen: https://github.com/open-telemetry/opentelemetry-ebpf-profiler,
 * design-docs/00003-memory-profiling.
 *
 * For one address alloc and free alternate, in the order of the hits, whichever threads make them:
 * alloc comes after the allocator has handed the block out, and free before the allocator gets it
 * back. Only for a block that realloc() moved does free come afterwards, since it is not known
 * before; tracked.h describes how that is handled.
 *
 * Each function ends in a jump to the real one unless there is something to report, and keeps
 * errno.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/counters.h"
#include "preload/real.h"
#include "preload/sampler.h"
#include "preload/tracked.h"
#include "preload/usdt.h"

#define EXPORT __attribute__((visibility("default")))

USDT_BASE();
USDT_SEMAPHORE(otel_memory, alloc);
USDT_SEMAPHORE(otel_memory, free);

EXPORT struct heap_counters profd_heap_counters;

/* C23's, which older headers do not declare. */
EXPORT void free_sized(void *block, size_t size);
EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size);

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, sampler_forked);
}

/* ---- telling ------------------------------------------------------------------------------- */

static __attribute__((noinline)) void tell_free(const void *block)
{
	if (USDT_HEARD(otel_memory, free)) {
		count(&profd_heap_counters.frees, 1);
		USDT_PROBE(otel_memory, free, "8@%0", "r"(block));
	} else {
		count(&profd_heap_counters.taken_back, 1);
	}
}

/* Reports a sampled block; NULL if the allocator had none. Returns the block. */
static __attribute__((noinline)) void *tell_alloc(void *block, size_t size)
{
	uint64_t weight;

	if (!block || !USDT_HEARD(otel_memory, alloc))
		return block;
	switch (tracked_add(block)) {
	case TRACKED_NOWHERE:
		count(&profd_heap_counters.no_room, 1);
		/* Without its free the block would never go; but a profiler that does not listen to
		 * free() does not care. */
		if (USDT_HEARD(otel_memory, free))
			return block;
		break;
	case TRACKED_MOVED:
		tell_free(block);
		break;
	case TRACKED:
		break;
	}
	weight = sampler_weight(size);
	count(&profd_heap_counters.allocs, 1);
	count(&profd_heap_counters.weight, weight);
	USDT_PROBE(otel_memory, alloc, "8@%0 8@%1 8@%2", "r"(block), "r"(size), "r"(weight));
	return block;
}

/* ---- allocating ---------------------------------------------------------------------------- */

EXPORT void *malloc(size_t size)
{
	if (likely(!sampler_due(size)))
		return real.malloc(size);
	return tell_alloc(real.malloc(size), size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	size_t bytes;

	if (unlikely(__builtin_mul_overflow(n, size, &bytes)) || likely(!sampler_due(bytes)))
		return real.calloc(n, size);
	return tell_alloc(real.calloc(n, size), bytes);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	if (likely(!sampler_due(size)))
		return real.memalign(alignment, size);
	return tell_alloc(real.memalign(alignment, size), size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	if (likely(!sampler_due(size)))
		return real.aligned_alloc(alignment, size);
	return tell_alloc(real.aligned_alloc(alignment, size), size);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	bool due = sampler_due(size);
	int error = real.posix_memalign(block, alignment, size);

	if (unlikely(due) && !error)
		tell_alloc(*block, size);
	return error;
}

EXPORT void *valloc(size_t size)
{
	return memalign((size_t)sysconf(_SC_PAGESIZE), size);
}

EXPORT void *pvalloc(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), up;

	if (__builtin_add_overflow(size, page - 1, &up)) {
		errno = ENOMEM;
		return NULL;
	}
	return memalign(page, up / page * page);
}

/* ---- freeing ------------------------------------------------------------------------------- */

static __attribute__((noinline)) void free_maybe_tracked(void *block)
{
	if (early_owns(block))
		return;
	if (tracked_take(block))
		tell_free(block);
	real.free(block);
}

EXPORT void free(void *block)
{
	if (tracked_maybe(block))
		free_maybe_tracked(block);
	else
		real.free(block);
}

EXPORT void free_sized(void *block, size_t size)
{
	(void)size; /* a hint, which no allocator needs */
	free(block);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	free(block);
}

/* ---- both ---------------------------------------------------------------------------------- */

static __attribute__((noinline)) void *realloc_told(void *block, size_t size, bool due)
{
	uintptr_t *held;
	void *moved;

	if (early_owns(block)) {
		moved = early_realloc(block, size);
	} else {
		held = tracked_hold(block);
		moved = real.realloc(block, size);
		/* NULL is a failure, and the old block is still there, unless no bytes were asked
		 * for. */
		if (held && tracked_release(held, block, moved || !size)) {
			tell_free(block);
			tracked_told(held, block);
		}
	}
	return due ? tell_alloc(moved, size) : moved;
}

EXPORT void *realloc(void *block, size_t size)
{
	bool due = sampler_due(size);

	if (likely(!due) && !tracked_maybe(block))
		return real.realloc(block, size);
	return realloc_told(block, size, due);
}

/* Not the real reallocarray(), which may call the realloc() of this library. */
EXPORT void *reallocarray(void *block, size_t n, size_t size)
{
	size_t bytes;

	if (unlikely(__builtin_mul_overflow(n, size, &bytes))) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}
