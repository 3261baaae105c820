/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums that do not wrap, whatever programs ask for: a loop that maps and unmaps half of its address
 * space goes through 64 bits within a second.
 */
#pragma once

#include "bpf/abi.h"

/* A sum that has reached this is not added to any more: 4 PiB, or 52 days. When all CPUs add to it
 * at that moment, it still stays within the 63 bits with which profiles are written. */
static const u64 sum_most = 1ULL << 52;
_Static_assert((MAX_CPUS + 1ULL) << 52 < 1ULL << 63, "room for what all CPUs add");

/* Returns the new sum. */
static inline __attribute__((always_inline)) u64 sum_add(u64 *sum, u64 more)
{
	u64 before = *(volatile u64 *)sum;

	if (before >= sum_most)
		return before;
	if (more > sum_most)
		more = sum_most;
	return __sync_fetch_and_add(sum, more) + more;
}
