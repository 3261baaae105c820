/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct jit_ranges - ranges of addresses, sorted and disjoint. Pure; one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_range {
	uint64_t start, end;
};

/* All zero: empty. */
struct jit_ranges {
	struct jit_range *at;
	size_t count;
};

/* Adds sorted ranges. 0 or -ENOMEM: nothing was added. */
int jit_ranges_add(struct jit_ranges *ranges, const struct jit_range *more, size_t count);
bool jit_ranges_have(const struct jit_ranges *ranges, uint64_t address);
void jit_ranges_release(struct jit_ranges *ranges);
/* Merges two sorted lists of ranges into `out`, which has room for both. Returns how many there
 * are. */
size_t jit_ranges_join(const struct jit_range *one, size_t one_count, const struct jit_range *other,
                       size_t other_count, struct jit_range *out);
