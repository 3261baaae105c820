/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct few_pids - the few pids that a request names and that are looked up in very long lists:
 * holds the pids that were not found yet, each once, in the order of the request. Pure.
 */
#pragma once

#include "base/bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FEW_PIDS_BITS = 4096 };

struct few_pids {
	uint32_t pids[MAX_QUERY_VALUES];
	size_t count;
	uint64_t bits[FEW_PIDS_BITS / 64]; /* the bit of each pid in the list is set */
};

/* Does nothing once there are MAX_QUERY_VALUES. */
void few_pids_add(struct few_pids *few, uint32_t pid);
/* Removes a pid from the list, if it is there. */
void few_pids_take(struct few_pids *few, uint32_t pid);

/* The same, but fast: to be called for each pid of a long list. */
static inline void few_pids_pass(struct few_pids *few, uint32_t pid)
{
	if (few->bits[pid % FEW_PIDS_BITS / 64] & 1ULL << pid % 64)
		few_pids_take(few, pid);
}
