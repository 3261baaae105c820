/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct runs - sorted runs of mappings as the walker reads them: one run for all processes with
 * equal mappings. Each user has a share of the memory for runs, and a run has at most
 * MAX_RUN_MAPPINGS mappings, so that no user takes the room that the stacks of others need. Loop
 * thread only.
 */
#pragma once

#include "proc/mapping_set.h"
#include "proc/owner.h"
#include "unwind/tables.h"

struct run;
struct runs;

enum { MAX_RUN_MAPPINGS = 4096 };

/* The owner of a process. It is looked up only where it matters, because that reads a file of
 * /proc. */
struct run_owner {
	uint32_t pid;
	uint32_t user; /* OWNER_UNKNOWN: not looked up yet, or the process is gone */
	bool asked;
};

uint32_t run_owner_get(struct run_owner *owner, const struct unwind_memory *memory);

/* NULL when out of memory. */
struct runs *runs_new(struct tables *tables, struct store *store,
                      const struct unwind_memory *memory);
void runs_free(struct runs *runs); /* before the tables; accepts NULL */

/* Takes the run of these mappings for one more process. If there are too many mappings, the run has
 * those with the lowest addresses. NULL when there is no room, or the owner's share is full. */
struct run *runs_take(struct runs *runs, const struct mapping_set *set, struct run_owner *owner);
/* To be called after the slot that named the run has changed; accepts NULL. */
void runs_give(struct runs *runs, struct run *run);
/* The run as a slot describes it, without the pid. */
uint64_t run_word(const struct run *run);

/* Frees runs that no process has any more, once every walker has been outside of them. */
void runs_reclaim(struct runs *runs);
/* Increases whenever room becomes free. */
uint64_t runs_freed(const struct runs *runs);
/* Fills in the numbers of runs. */
void runs_get_stats(const struct runs *runs, struct unwinder_stats *stats);
