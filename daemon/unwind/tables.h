/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tables - the tables of all executables: a descriptor for each piece in the shared array,
 * and the words in chunks (unwind/chunks.h). A table that no mapping refers to any more is kept for
 * a while, for the next process that runs the file. Loop thread only. Files are read in reader
 * processes, which lanes wait for; the tables that walks missed most are built first.
 */
#pragma once

#include "object/store.h"
#include "reader/reader.h"
#include "unwind/unwind_memory.h"
#include "unwind/unwinder_stats.h"

#include <uv.h>

struct tables;

/* NULL when out of memory. */
struct tables *tables_new(uv_loop_t *loop, struct store *store, const struct unwind_memory *memory);
void tables_stop(struct tables *tables);
void tables_free(struct tables *tables); /* after tables_stop() and the end of the loop */

/* Returns the number of an executable's first descriptor, for one more mapping in a process of that
 * user. The user is charged for the numbers if it is the first mapping. 0 when no number is left,
 * or the user's share is full. */
uint32_t tables_take(struct tables *tables, const struct object *object, uint32_t user);
/* Writes into a mapping with that number where its pieces are. A mapping without a piece gets
 * number 0, and the number is given back. */
void tables_place(struct tables *tables, struct unwind_mapping *mapping);
/* Only for mappings that no walker can see any more; `id` may be any number of the executable. */
void tables_give(struct tables *tables, uint32_t id);

/* Reads the counts of what walks have missed, and starts building; also builds at most one table
 * that no walk has missed. Epochs count seconds. */
void tables_look(struct tables *tables, uint32_t epoch);
/* The same for missed tables only, so that it may be called at any rate. */
void tables_look_missed(struct tables *tables, uint32_t epoch);

/* Whether any table is being built, other than by following code. */
bool tables_building(const struct tables *tables);

/* Whether unpublished words wait for walkers; tables_reclaim() frees them once every walker has
 * been outside. */
bool tables_retired(const struct tables *tables);
void tables_reclaim(struct tables *tables);

void tables_get_stats(const struct tables *tables, struct unwinder_stats *stats);
void tables_add_reader_stats(const struct tables *tables, struct reader_stats *stats);
