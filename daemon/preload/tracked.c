/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The set of sampled blocks, and the filter in front of it. */
#include "preload/tracked.h"

#define BUCKET_SIZE  8
#define BUCKETS_LOG2 15
#define EMPTY        0
/* Flags in the lowest bits of a word, which no block's address has set. */
#define HELD      1 /* in a realloc() */
#define TELLING   2 /* moved by realloc(), and its free() is being reported */
#define SATURATED UINT8_MAX

/* 2 MiB that are not resident until they are used. */
static uintptr_t buckets[1 << BUCKETS_LOG2][BUCKET_SIZE] __attribute__((aligned(64)));

uint8_t tracked_filter[FILTER_SIZE] __attribute__((aligned(64)));

/* ---- the filter ---------------------------------------------------------------------------- */

/* A saturated byte stays so: it no longer knows when its last block goes. */
static void filter_add(const void *block, int by)
{
	uint8_t *cell = tracked_cell(block);
	uint8_t now = __atomic_load_n(cell, __ATOMIC_RELAXED);

	while (now != SATURATED &&
	       !__atomic_compare_exchange_n(cell, &now, (uint8_t)(now + by), true, __ATOMIC_RELAXED,
	                                    __ATOMIC_RELAXED))
		;
}

void tracked_pin(const void *block)
{
	__atomic_store_n(tracked_cell(block), SATURATED, __ATOMIC_RELAXED);
}

/* ---- the set ------------------------------------------------------------------------------- */

static uintptr_t *bucket_of(const void *block)
{
	/* Fibonacci hashing of what differs between addresses that are aligned to 16. */
	uint64_t hash = ((uint64_t)(uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15);

	return buckets[hash >> (64 - BUCKETS_LOG2)];
}

static bool change(uintptr_t *word, uintptr_t from, uintptr_t to)
{
	return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_RELAXED,
	                                   __ATOMIC_RELAXED);
}

/* Changes the first word of the block's bucket that is `from`; NULL if there is none. */
static uintptr_t *change_in_bucket(const void *block, uintptr_t from, uintptr_t to)
{
	uintptr_t *bucket = bucket_of(block);

	for (size_t i = 0; i < BUCKET_SIZE; i++)
		if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == from &&
		    change(&bucket[i], from, to))
			return &bucket[i];
	return NULL;
}

static bool is_in_bucket(const void *block, uintptr_t word)
{
	return change_in_bucket(block, word, word) != NULL;
}

enum tracked_add tracked_add(const void *block)
{
	uintptr_t address = (uintptr_t)block;

	if (tracked_maybe(block)) {
		if (change_in_bucket(block, address | HELD, address))
			return TRACKED_MOVED;
		if (is_in_bucket(block, address | TELLING))
			return TRACKED_NOWHERE;
	}
	/* The filter first: a fork() in between must not leave a word without its count. */
	filter_add(block, 1);
	if (change_in_bucket(block, EMPTY, address))
		return TRACKED;
	filter_add(block, -1);
	return TRACKED_NOWHERE;
}

bool tracked_take(const void *block)
{
	if (!block || !change_in_bucket(block, (uintptr_t)block, EMPTY))
		return false;
	filter_add(block, -1);
	return true;
}

uintptr_t *tracked_hold(const void *block)
{
	return block ? change_in_bucket(block, (uintptr_t)block, (uintptr_t)block | HELD) : NULL;
}

bool tracked_release(uintptr_t *held, const void *block, bool gone)
{
	uintptr_t address = (uintptr_t)block;

	/* If the change fails, the address has a new tracked block, and the thread that added it
	 * has reported the free of the old one. */
	return change(held, address | HELD, gone ? address | TELLING : address) && gone;
}

void tracked_told(uintptr_t *held, const void *block)
{
	__atomic_store_n(held, EMPTY, __ATOMIC_RELAXED);
	filter_add(block, -1);
}
