/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tables - the tables of all executables: a descriptor for each piece in the shared array,
 * their words in chunks (unwind/chunks.h). What no mapping refers to any more stays for a while,
 * for the next process that runs the file. Loop thread only; files are read in reader processes,
 * for which lanes wait, what walks have missed most first.
 */
#pragma once

#include "object/store.h"
#include "unwind/unwinder.h"

struct tables;

/* NULL when out of memory. */
struct tables *tables_new(uv_loop_t *loop, struct store *store, const struct unwind_memory *memory);
void tables_stop(struct tables *tables);
void tables_free(struct tables *tables); /* after tables_stop() and the loop has run out */

/* The number of the first descriptor of an executable, for one more mapping, of a process of that
 * user, who pays for it if it is the first; 0 when there is none left, or none for him. */
uint32_t tables_take(struct tables *tables, const struct object *object, uint32_t user);
/* Says in a mapping with that number which pieces are where. One with no piece has 0 then, and the
 * number is given back. */
void tables_place(struct tables *tables, struct unwind_mapping *mapping);
/* Only for mappings that no walker can see any more; any number of the executable. */
void tables_give(struct tables *tables, uint32_t id);

/* Reads what walks have missed and starts building; of what nobody has missed at most one. Epochs
 * count up by the second. */
void tables_look(struct tables *tables, uint32_t epoch);
/* The same of what was missed only, so that it may be called as often as anything is. */
void tables_look_missed(struct tables *tables, uint32_t epoch);

/* Whether any table is built, other than by following code. */
bool tables_building(const struct tables *tables);

/* Takes back words that were unpublished, if every walker has been elsewhere. */
bool tables_retired(const struct tables *tables);
void tables_reclaim(struct tables *tables);

void tables_get_stats(const struct tables *tables, struct unwinder_stats *stats);
void tables_add_reader_stats(const struct tables *tables, struct reader_stats *stats);
