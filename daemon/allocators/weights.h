/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a sampled allocation stands for. Samples are points of a Poisson process over the bytes
 * allocated, one every `rate` bytes on average, so that an allocation of S bytes is taken with
 * P = 1 - exp(-S / rate), whatever its neighbours are: a fixed distance would interfere with
 * programs that allocate in a fixed pattern. Weighted by 1 / P, the sums are unbiased. Pure.
 */
#pragma once

#include <math.h>
#include <stdint.h>

struct heap_weight {
	double bytes, objects;
};

/* rate 0: every allocation is taken. */
static inline double heap_probability(uint64_t size, uint64_t rate)
{
	return rate ? -expm1(-(double)size / (double)rate) : 1;
}

/* All zero for a size of 0, which is never taken. */
static inline struct heap_weight heap_weigh(uint64_t size, uint64_t rate)
{
	double probability = heap_probability(size, rate);

	if (!size)
		return (struct heap_weight){0};
	return (struct heap_weight){(double)size / probability, 1 / probability};
}

/* The same for a sample that came with its weight. */
static inline struct heap_weight heap_weight_told(uint64_t size, uint64_t weighted_bytes)
{
	if (!size)
		return (struct heap_weight){0};
	return (struct heap_weight){(double)weighted_bytes, (double)weighted_bytes / (double)size};
}
