/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct few_pids - the few pids that somebody asks about, looked for in lists of very many: those
 * that were not found yet, each once, in the order in which they were asked for. Pure.
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
	uint64_t bits[FEW_PIDS_BITS / 64]; /* of a pid that is in the list, one is set */
};

/* Beyond MAX_QUERY_VALUES it does nothing. */
void few_pids_add(struct few_pids *few, uint32_t pid);
/* Takes it out, if it is in the list. */
void few_pids_take(struct few_pids *few, uint32_t pid);

/* The same for each of a long list. */
static inline void few_pids_pass(struct few_pids *few, uint32_t pid)
{
	if (few->bits[pid % FEW_PIDS_BITS / 64] & 1ULL << pid % 64)
		few_pids_take(few, pid);
}
