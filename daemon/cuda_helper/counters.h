/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the library did, exported as profd_cuda_counters, for tests and debuggers. Each is added to
 * by any thread.
 */
#pragma once

#include <stdint.h>

struct cuda_counters {
	uint64_t started;    /* times that recording began */
	uint64_t launches;   /* while recording, those that failed as well */
	uint64_t chosen;     /* of those: told of */
	uint64_t buffers;    /* given to CUPTI */
	uint64_t no_buffer;  /* asked for in vain: it dropped records */
	uint64_t dropped;    /* records for which it had none, as it says */
	uint64_t records;    /* that came back */
	uint64_t kernels;    /* of those: told of, many at a time */
	uint64_t not_chosen; /* of those: of launches that are not told of */
	uint64_t untimed;    /* of those: without a beginning or an end */
};

extern struct cuda_counters profd_cuda_counters;

static inline void count(uint64_t *counter, uint64_t by)
{
	__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}
