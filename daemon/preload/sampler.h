/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which allocations are sampled. Points are distributed over all bytes that a thread allocates, at
 * distances that are exponentially distributed with mean R. An allocation that contains a point is
 * sampled. So
 *
 *     P(size) = 1 - exp(-size / R)
 *
 * whatever was allocated before, and size / P(size) is an unbiased weight: the weights of a stack's
 * samples add up, in the mean, to the bytes that it allocated. A fixed distance would not do that:
 * it falls into step with programs that allocate in rounds.
 *
 * R is 512 KiB or the value of PROFD_HEAP_RATE: bytes, optionally with KiB, MiB or GiB, 1 to 1 TiB.
 * Each thread has its own countdown and random state. Nothing here waits, allocates, or calls the
 * kernel (except for the clock where the vdso has none, once a thread).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

struct sampler {
	uint64_t left; /* the point is in the left'th byte from now; 0: there is none yet */
	uint64_t random;
};

/* In the initial-exec model, because the other models allocate at a thread's first access. */
extern __thread struct sampler sampler_mine __attribute__((tls_model("initial-exec")));

/* Called when the point is in these bytes, or the thread has none yet. Draws the next point. True:
 * the allocation is to be sampled. */
bool sampler_reached(size_t size);

/* Counts an allocation. True: the allocation is to be sampled. */
static inline bool sampler_due(size_t size)
{
	uint64_t left = sampler_mine.left;

	if (unlikely(size >= left))
		return sampler_reached(size);
	sampler_mine.left = left - size;
	return false;
}

/* The weight of a sampled allocation of this size, in whole bytes, rounded up or down at random. */
uint64_t sampler_weight(size_t size);

/* Called in the child of a fork(), which would otherwise draw the same numbers as its parent. */
void sampler_forked(void);
