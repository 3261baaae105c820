/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct runs - runs of mappings, sorted by address, as the walker reads them: one for all
 * processes of equal mappings. Each user has a share of all of them, and no process has more than
 * MAX_RUN_MAPPINGS, so that nobody takes what the stacks of others need. Loop thread only.
 */
#pragma once

#include "proc/mapping_set.h"
#include "proc/owner.h"
#include "unwind/tables.h"

struct run;
struct runs;

enum { MAX_RUN_MAPPINGS = 4096 };

/* Whose a process is: asked only where it matters, for that takes a file of /proc to be read. */
struct run_owner {
	uint32_t pid;
	uint32_t user; /* OWNER_UNKNOWN: not asked yet, or it is gone */
	bool asked;
};

uint32_t run_owner_get(struct run_owner *owner, const struct unwind_memory *memory);

/* NULL when out of memory. */
struct runs *runs_new(struct tables *tables, struct store *store,
                      const struct unwind_memory *memory);
void runs_free(struct runs *runs); /* before the tables; takes NULL */

/* The run of these mappings, for one more process; of too many, of those with the lowest addresses.
 * NULL when there is no room, or the owner has his share. */
struct run *runs_take(struct runs *runs, const struct mapping_set *set, struct run_owner *owner);
/* After the slot that named it has changed; takes NULL. */
void runs_give(struct runs *runs, struct run *run);
/* What a slot says of it, beside the pid. */
uint64_t run_word(const struct run *run);

/* Takes back runs that nobody has any more, if every walker has been elsewhere. */
void runs_reclaim(struct runs *runs);
/* Counts up whenever there is more room than there was. */
uint64_t runs_freed(const struct runs *runs);
/* Adds to them. */
void runs_get_stats(const struct runs *runs, struct unwinder_stats *stats);
