/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tables - the tables of all executables: a descriptor each in the shared array, their words
 * in the shared pool. A descriptor that no mapping refers to any more stays, for the next process
 * that runs the file, until descriptors or words run out. Loop thread only; files are read in a
 * reader process, for which a lane waits, one at a time, those first that walks have missed most.
 */
#pragma once

#include "object/store.h"
#include "unwind/unwinder.h"

struct tables;

/* NULL when out of memory. */
struct tables *tables_new(uv_loop_t *loop, struct store *store, const struct unwind_memory *memory);
void tables_stop(struct tables *tables);
void tables_free(struct tables *tables); /* after tables_stop() and the loop has run out */

/* The descriptor of an executable, for one more mapping; 0 when there is none left. */
uint32_t tables_take(struct tables *tables, const struct object *object);
/* Only for mappings that no walker can see any more. */
void tables_give(struct tables *tables, uint32_t id);

/* Starts building what was taken since the last call. */
void tables_build_new(struct tables *tables);
/* Reads what walks have missed and starts building. Epochs count up by the second. */
void tables_look(struct tables *tables, uint32_t epoch);

/* Takes back words that were unpublished, if every walker has been elsewhere. */
bool tables_retired(const struct tables *tables);
void tables_reclaim(struct tables *tables);

void tables_get_stats(const struct tables *tables, struct unwinder_stats *stats);
void tables_add_reader_stats(const struct tables *tables, struct reader_stats *stats);
