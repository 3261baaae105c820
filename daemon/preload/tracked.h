/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The blocks that were sampled and are not free yet: a set of addresses of fixed size, without
 * locks. An address belongs into one bucket of eight words, one cache line; each change is one
 * compare-and-swap of one word, so a fork() in the middle of one, or a thread killed there, leaves
 * nothing half done. When the bucket is full the block is not taken, and the caller does not tell
 * of it at all: its alloc without its free would look like a leak. With 32 GiB held at the default
 * rate one in 5000 has no room.
 *
 * In front of it is a filter, because nearly all frees are of blocks that nobody sampled: a byte
 * for each 64 bytes of address space, of which all addresses that are a megabyte apart share one.
 * It counts the tracked blocks that begin there. Blocks that are neighbours have their bytes side
 * by side, so frees do not stir the caches.
 *
 * Any thread may call anything here. Who frees a block has got its address from who allocated it,
 * and that handing over orders what they do here; hence no memory barriers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILTER_SIZE (1 << 14)

extern uint8_t tracked_filter[FILTER_SIZE] __attribute__((visibility("hidden")));

static inline uint8_t *tracked_cell(const void *block)
{
	return &tracked_filter[((uintptr_t)block >> 6) % FILTER_SIZE];
}

/* False: this block is not tracked. True: it may be. */
static inline bool tracked_maybe(const void *block)
{
	return __builtin_expect(__atomic_load_n(tracked_cell(block), __ATOMIC_RELAXED) != 0, 0);
}

enum tracked_add {
	TRACKED,
	TRACKED_MOVED,   /* ... where a held block was, whose free() has to be told first */
	TRACKED_NOWHERE, /* no room, or a free() of this very address is being told */
};

/* A block that was just allocated. */
enum tracked_add tracked_add(const void *block);

/* A block that is about to be freed: it is tracked no more. False if it was not; NULL never is. */
bool tracked_take(const void *block);

/*
 * A block that realloc() is about to change: NULL if it is not tracked. Whether it goes is known
 * only afterwards, when another thread may already have its address for a block of its own. So the
 * address stays here, marked, until tracked_release() says what became of the block. If that is
 * true, its free() is to be told, and then tracked_told() that this was done.
 */
uintptr_t *tracked_hold(const void *block);
bool tracked_release(uintptr_t *held, const void *block, bool gone);
void tracked_told(uintptr_t *held, const void *block);

/* Makes tracked_maybe() true for this address for good. */
void tracked_pin(const void *block);
