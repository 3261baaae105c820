/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the library did, exported as profd_cuda_counters, for tests and debuggers. Any thread adds
 * to the counters.
 */
#pragma once

#include <stdint.h>

struct cuda_counters {
	uint64_t started;    /* times that recording began */
	uint64_t launches;   /* while recording, including those that failed */
	uint64_t chosen;     /* of those: reported */
	uint64_t buffers;    /* given to CUPTI */
	uint64_t no_buffer;  /* requested while none was free: CUPTI dropped records */
	uint64_t dropped;    /* records dropped for lack of a buffer, as CUPTI reports */
	uint64_t records;    /* records that came back */
	uint64_t kernels;    /* of those: reported, many at a time */
	uint64_t not_chosen; /* of those: of launches that were not chosen */
	uint64_t untimed;    /* of those: without a start or end time */
};

extern struct cuda_counters profd_cuda_counters;

static inline void count(uint64_t *counter, uint64_t by)
{
	__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}
