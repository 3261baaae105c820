/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which allocations are sampled. Points are strewn over all bytes that a thread allocates, in
 * distances that are exponentially distributed with mean R, and an allocation with a point in it is
 * sampled. So
 *
 *     P(size) = 1 - exp(-size / R)
 *
 * whatever was allocated before, and size / P(size) is an unbiased weight: the weights of a stack's
 * samples add up, in the mean, to the bytes that it allocated. A fixed distance would not do that:
 * it falls into step with programs that allocate in rounds.
 *
 * R is 512 KiB or what PROFD_HEAP_RATE says: bytes, with KiB, MiB or GiB if you like, 1 to 1 TiB.
 * Each thread has a countdown and a random state of its own. Nothing here waits, allocates, or
 * calls the kernel (but for the clock where the vdso has none, once a thread).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

struct sampler {
	uint64_t left; /* the point is in the left'th byte from now; 0 in a thread that has none yet
	                */
	uint64_t random;
};

/* Of the initial-exec model, because the other ones allocate when a thread first gets there. */
extern __thread struct sampler sampler_mine __attribute__((tls_model("initial-exec")));

/* The point is in these bytes, or the thread has none yet. Draws the next point. */
bool sampler_reached(size_t size);

/* Counts an allocation. True: it is to be sampled. */
static inline bool sampler_due(size_t size)
{
	uint64_t left = sampler_mine.left;

	if (unlikely(size >= left))
		return sampler_reached(size);
	sampler_mine.left = left - size;
	return false;
}

/* What a sampled allocation of this size stands for, in whole bytes, rounded up or down by chance.
 */
uint64_t sampler_weight(size_t size);

/* In the child of a fork(), which would otherwise draw what its parent draws. */
void sampler_forked(void);
