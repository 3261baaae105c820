/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A bitmap of grains. A search skips 64 grains at a time, and begins at the place of the first free
 * grain that was seen last.
 */
#include "unwind/pool.h"

#include <stdbool.h>

enum { BITS = 64 };

struct pool {
	size_t grain, grains, free;
	size_t first_free; /* no grain before it is free */
	uint64_t taken[];
};

struct pool *pool_new(size_t elements, size_t grain)
{
	size_t grains = grain ? elements / grain : 0;
	struct pool *pool = calloc(1, sizeof(*pool) + (grains / BITS + 1) * sizeof(*pool->taken));

	if (!pool)
		return NULL;
	pool->grain = grain ? grain : 1;
	pool->grains = grains;
	pool->free = grains ? grains - 1 : 0;
	pool->first_free = 1;
	pool->taken[0] = 1;
	return pool;
}

void pool_free(struct pool *pool)
{
	free(pool);
}

/* The first grain in [at, end) that is taken (or is free, if `taken` is false); `end` when there is
 * none. */
static size_t find(const struct pool *pool, size_t at, size_t end, bool taken)
{
	while (at < end) {
		uint64_t word = taken ? pool->taken[at / BITS] : ~pool->taken[at / BITS];

		word >>= at % BITS;
		if (word) {
			at += (size_t)__builtin_ctzll(word);
			return at < end ? at : end;
		}
		at += BITS - at % BITS;
	}
	return end;
}

static void mark(struct pool *pool, size_t at, size_t end, bool taken)
{
	while (at < end) {
		size_t low = at % BITS;
		size_t count = end - at < BITS - low ? end - at : BITS - low;
		uint64_t bits = (count == BITS ? ~0ULL : (1ULL << count) - 1) << low;

		if (taken)
			pool->taken[at / BITS] |= bits;
		else
			pool->taken[at / BITS] &= ~bits;
		at += count;
	}
}

static size_t grains_of(const struct pool *pool, size_t count)
{
	return count / pool->grain + (count % pool->grain != 0);
}

size_t pool_take(struct pool *pool, size_t count)
{
	size_t want = grains_of(pool, count), at;

	if (!want || want > pool->free)
		return 0;
	at = pool->first_free = find(pool, pool->first_free, pool->grains, false);
	while (at < pool->grains && want <= pool->grains - at) {
		size_t end = find(pool, at, at + want, true);

		if (end == at + want) {
			mark(pool, at, end, true);
			pool->free -= want;
			return at * pool->grain;
		}
		at = find(pool, end, pool->grains, false);
	}
	return 0;
}

void pool_give(struct pool *pool, size_t first, size_t count)
{
	size_t at = first / pool->grain, grains = grains_of(pool, count);

	mark(pool, at, at + grains, false);
	pool->free += grains;
	if (at < pool->first_free)
		pool->first_free = at;
}

size_t pool_free_elements(const struct pool *pool)
{
	return pool->free * pool->grain;
}
