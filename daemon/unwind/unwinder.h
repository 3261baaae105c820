/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct unwinder - keeps what the kernel's walker needs in step with the processes of the host:
 * their mappings, and tables for the executables that they map, one table each or one for each
 * piece of a large executable. Tables are built in reader processes, a few at a time; those that
 * walks have missed most come first. One budget bounds all tables. When it is used up, the table
 * that no walk has used for the longest time makes way for a wanted one.
 *
 * Memory that walkers may still be reading is never written to: what is replaced is unpublished
 * first, and reused once every CPU has been seen outside the walker (`quiet`). Loop thread only.
 */
#pragma once

#include "proc/proc.h"
#include "reader/reader.h"
#include "unwind/unwind_memory.h"
#include "unwind/unwinder_stats.h"

#include <stdbool.h>
#include <uv.h>

struct unwinder;

/* The unwinder must be freed before the loop and the process table. NULL when out of memory. */
struct unwinder *unwinder_new(uv_loop_t *loop, struct procs *procs, struct store *store,
                              const struct unwind_memory *memory);
/* Accepts no more work; call unwinder_free() after the loop has ended. */
void unwinder_stop(struct unwinder *unwinder);
void unwinder_free(struct unwinder *unwinder);

/* Passes what the process table learned since the last call on to the walker. Called after
 * side-band records were read, so that a new process can be walked soon. All records up to
 * `told_mono_ns` have been read; a process that called exec after that is left out until the next
 * call. Also looks for tables that walks have missed, and starts building. Returns true while a
 * table is being built. */
bool unwinder_sync(struct unwinder *unwinder, uint64_t told_mono_ns);
/* Looks for tables to build at once, regardless of when it was last done: for tests. */
void unwinder_look(struct unwinder *unwinder);
void unwinder_get_stats(const struct unwinder *unwinder, struct unwinder_stats *ret_stats);
/* Adds the statistics of the reader processes that build tables. */
void unwinder_add_reader_stats(const struct unwinder *unwinder, struct reader_stats *stats);
