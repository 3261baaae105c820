/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums of values that programs may choose: a sum that has become too large stays the largest
 * number. If it wrapped, what is largest would be shown as small.
 */
#pragma once

#include <stdint.h>

static inline void sum_add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}
