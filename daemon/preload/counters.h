/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the library has done in this process, under the only name that it exports besides the
 * allocation functions: `print profd_heap_counters` in gdb, or dlsym(). Counted only where
 * something is sampled. A child of fork() continues with its parent's numbers.
 */
#pragma once

#include <stdint.h>

struct heap_counters {
	uint64_t rate;       /* mean bytes between samples; 0 before the first allocation */
	uint64_t allocs;     /* hits of the alloc() probe */
	uint64_t weight;     /* ... and the sum of their weights, in bytes */
	uint64_t frees;      /* hits of the free() probe */
	uint64_t taken_back; /* sampled blocks freed while no profiler listened to free() */
	uint64_t no_room;    /* samples not reported, for lack of room to track their blocks */
};

extern struct heap_counters profd_heap_counters;

static inline void count(uint64_t *counter, uint64_t by)
{
	__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}
