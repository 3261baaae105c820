/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct rules - the distinct rules of one table, numbered in the order in which they are added.
 */
#pragma once

#include "bpf/unwind_table.h"

#include <stddef.h>

/* Bound for one table; libraries of hand-written assembly have a few hundred rules. */
enum { MAX_RULES = 65536 };

struct rules {
	struct unwind_rule *items;
	size_t count;
	uint32_t *buckets; /* open addressing: number + 1 */
	size_t bucket_count;
};

/* Returns the number of a rule, which is added if it is new. -E2BIG over MAX_RULES, -ENOMEM. */
int rules_number(struct rules *rules, const struct unwind_rule *rule, uint32_t *ret_number);
void rules_release(struct rules *rules);
