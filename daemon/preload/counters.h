/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the library has done in this process, under the one name that it exports besides the
 * allocation functions: `print profd_heap_counters` in gdb, or dlsym(). Counted only where
 * something is sampled. A child of fork() goes on with its parent's numbers.
 */
#pragma once

#include <stdint.h>

struct heap_counters {
	uint64_t rate;       /* bytes between samples, in the mean; 0 before the first allocation */
	uint64_t allocs;     /* alloc() probes passed */
	uint64_t weight;     /* ... and the sum of their weights, in bytes */
	uint64_t frees;      /* free() probes passed */
	uint64_t taken_back; /* sampled blocks that were freed while nobody listened to free() */
	uint64_t no_room;    /* samples not told of, because what is tracked had no room for them */
};

extern struct heap_counters profd_heap_counters;

static inline void count(uint64_t *counter, uint64_t by)
{
	__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}
