/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The blocks that were sampled and are not free yet: a set of addresses of fixed size, without
 * locks. An address belongs in one bucket of eight words, one cache line. Each change is one
 * compare-and-swap of one word, so a fork() in the middle of a change, or a thread killed there,
 * leaves nothing half done. When the bucket is full the block is not taken, and the caller does not
 * report its allocation at all: an alloc without its free would look like a leak. With 32 GiB held
 * at the default rate one block in 5000 has no room.
 *
 * In front of the set is a filter, because nearly all frees are of blocks that were not sampled: a
 * byte for each 64 bytes of address space; all addresses that are a megabyte apart share a byte.
 * The byte counts the tracked blocks that begin there. The bytes of neighbouring blocks are next to
 * each other, so frees use the caches well.
 *
 * Any thread may call anything here. A thread that frees a block has got its address from the
 * thread that allocated it, and passing it on orders what the two threads do here, so no memory
 * barriers are needed.
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
	TRACKED_MOVED,   /* ... where a held block was, whose free() must be reported first */
	TRACKED_NOWHERE, /* no room, or a free() of this same address is being reported */
};

/* Adds a block that was just allocated. */
enum tracked_add tracked_add(const void *block);

/* Removes a block that is about to be freed. False if it was not tracked; NULL never is. */
bool tracked_take(const void *block);

/*
 * Holds a block that realloc() is about to change; NULL if it is not tracked. Whether the block is
 * freed is known only afterwards, when another thread may already have its address for a new block.
 * So the address stays in the set, marked, until tracked_release() says what became of the block.
 * If that returns true, the caller reports the block's free() and then calls tracked_told().
 */
uintptr_t *tracked_hold(const void *block);
bool tracked_release(uintptr_t *held, const void *block, bool gone);
void tracked_told(uintptr_t *held, const void *block);

/* Makes tracked_maybe() true for this address for good. */
void tracked_pin(const void *block);
