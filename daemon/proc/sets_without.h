/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct sets_without - the serial numbers of the mapping sets in which a search found nothing, and
 * never will. Processes share a set after a fork, so a storm of forks costs one search. Loop thread
 * only.
 */
#pragma once

#include "proc/mapping_set.h"

enum { SETS_WITHOUT = 256 };

/* All zero: none. */
struct sets_without {
	uint64_t serials[SETS_WITHOUT];
};

static inline bool sets_without_has(const struct sets_without *sets, const struct mapping_set *set)
{
	uint64_t serial = mapping_set_serial(set);

	return sets->serials[serial % SETS_WITHOUT] == serial;
}

static inline void sets_without_add(struct sets_without *sets, const struct mapping_set *set)
{
	uint64_t serial = mapping_set_serial(set);

	sets->serials[serial % SETS_WITHOUT] = serial;
}
