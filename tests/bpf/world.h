/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct world - the walker's maps as the daemon would fill them, for the processes of a test.
 */
#pragma once

#include "base/cleanup.h"
#include "tests/bpf/walker.h"
#include "unwind/table.h"

struct world {
	struct walker_maps maps;
	size_t pool_used, tables_used, mappings_used;
};

/* `pool_words` must be whole chunks. NULL when out of memory. */
struct world *world_new(size_t pool_words);
void world_free(struct world *world);
DEFINE_CLEANUP(struct world *, world_free)

/* Copies a table into the pool. Returns its number; 0 when there is no room. */
u32 world_add_table(struct world *world, const struct table *table);
size_t world_room(const struct world *world); /* words left for a table */
/* The number of a table for a file that has nothing to make rows from. */
u32 world_add_none(struct world *world);
/* Replaces the mappings of a process; `mappings` are sorted and do not overlap. -ENOSPC. */
int world_set_mappings(struct world *world, u32 pid, const struct unwind_mapping *mappings,
                       size_t count);
