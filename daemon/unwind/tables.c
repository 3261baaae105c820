/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Descriptors and their words. The daemon is the only writer of both, except for `used` and
 * `missed`. `base` is the switch: it is stored last when a table is published, and first when it is
 * withdrawn.
 */
#include "unwind/tables_private.h"

#include "base/clock.h"

#include <string.h>

enum { WORTH_FOLLOWING = 2 }; /* frames; a single one may have been a stray address */

struct unwind_table *tables_descriptor(const struct tables *tables, uint32_t id)
{
	return &tables->memory->tables[id];
}

struct tables *tables_new(uv_loop_t *loop, struct store *store, const struct unwind_memory *memory)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->store = store;
	tables->memory = memory;
	tables->count =
		memory->table_count < UINT32_MAX ? (uint32_t)memory->table_count : UINT32_MAX;
	tables->seen = 1;
	tables->shares.whole = tables->count;
	tables->chunks = chunks_new(memory);
	tables->numbers = pool_new(tables->count, 1);
	tables->items = calloc(tables->count + 1, sizeof(*tables->items));
	if (!tables->chunks || !tables->numbers || !tables->items ||
	    tables_builders_init(tables, loop)) {
		tables_free(tables);
		return NULL;
	}
	return tables;
}

void tables_stop(struct tables *tables)
{
	tables->stopped = true;
	tables_builders_stop(tables);
}

void tables_free(struct tables *tables)
{
	struct executable *executable, *next;

	if (!tables)
		return;
	HASH_ITER (hh, tables->by_object, executable, next) {
		HASH_DEL(tables->by_object, executable);
		free(executable);
	}
	tables_builders_release(tables);
	chunks_free(tables->chunks);
	pool_free(tables->numbers);
	shares_clear(&tables->shares);
	free(tables->items);
	free(tables);
}

uint32_t tables_used(const struct tables *tables, uint32_t id)
{
	return __atomic_load_n(&tables_descriptor(tables, id)->used, __ATOMIC_RELAXED);
}

static void give_words(struct tables *tables, struct piece *item)
{
	chunks_give(tables->chunks, item->base, item->words);
	item->base = item->words = 0;
	tables->gives++;
}

void tables_explain(struct tables *tables, uint32_t id, enum table_state why)
{
	__atomic_store_n(&tables_descriptor(tables, id)->why, why, __ATOMIC_RELAXED);
}

static void unpublish(struct tables *tables, uint32_t id)
{
	__atomic_store_n(&tables_descriptor(tables, id)->base, 0, __ATOMIC_RELEASE);
	tables_explain(tables, id, TABLE_PENDING);
	tables->rows -= tables->items[id].rows;
	tables->items[id].rows = 0;
}

void tables_replace(struct tables *tables, uint32_t id)
{
	struct piece *item = &tables->items[id];

	unpublish(tables, id);
	if (piece_is_mapped(item)) {
		item->state = PIECE_RETIRING;
		tables->retired_words += item->words;
	} else {
		item->state = PIECE_WAITING;
		give_words(tables, item);
	}
}

void tables_evict(struct tables *tables, uint32_t id)
{
	struct piece *item = &tables->items[id];

	tables_replace(tables, id);
	item->wanted = 0;
	item->again = false;
	/* It was evicted because it was not used, so it comes back only when it is used. */
	item->refused = tables->gives;
	tables->evicted++;
}

bool tables_retired(const struct tables *tables)
{
	return tables->retired_words > 0;
}

bool tables_give_retired(struct tables *tables)
{
	if (!unwind_memory_quiet(tables->memory))
		return false;
	for (uint32_t id = 1; id < tables->seen; id++) {
		struct piece *item = &tables->items[id];

		if (!item->executable || item->state != PIECE_RETIRING)
			continue;
		give_words(tables, item);
		item->state = PIECE_WAITING;
	}
	tables->retired_words = 0;
	return true;
}

void tables_reclaim(struct tables *tables)
{
	if (!tables->retired_words || !tables_give_retired(tables))
		return;
	tables_settle(tables);
	tables_start(tables);
}

void tables_publish(struct tables *tables, uint32_t id, const struct table *table, uint32_t base)
{
	struct piece *item = &tables->items[id];
	struct unwind_table *shared = tables_descriptor(tables, id);

	memcpy(chunks_words(tables->chunks, base), table->words,
	       table->word_count * sizeof(*table->words));
	shared->text = table->text;
	shared->blocks = table->blocks;
	tables_explain(tables, id, TABLE_READY);
	__atomic_store_n(&shared->used, tables->epoch, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->missed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->base, base, __ATOMIC_RELEASE);
	item->state = PIECE_READY;
	item->base = base;
	item->words = (uint32_t)(table->word_count + CHUNK_GRAIN - 1) / CHUNK_GRAIN * CHUNK_GRAIN;
	item->estimate = item->words;
	item->measured = true;
	item->rows = (uint32_t)table->row_count;
	item->wanted = 0;
	item->retries = 0;
	tables->rows += item->rows;
}

/* Takes what walkers counted since the last call, limited so that the sum with `so_far` does not
 * overflow. */
static uint32_t take_count(uint32_t *counted, uint32_t so_far)
{
	uint32_t count = 0;

	/* The count is mostly 0, and a read leaves the cache line shared. */
	if (__atomic_load_n(counted, __ATOMIC_RELAXED))
		count = __atomic_exchange_n(counted, 0, __ATOMIC_RELAXED);
	return count < UINT32_MAX - so_far ? count : UINT32_MAX - so_far;
}

/* Has a file's code followed once walks have come through code without rows, which makes that worth
 * its time. */
static void look_at_gaps(struct tables *tables, uint32_t id)
{
	struct piece *item = &tables->items[id];
	bool nothing = item->state == PIECE_NOTHING;
	uint32_t *counted = nothing ? &tables_descriptor(tables, id)->missed
	                            : &tables_descriptor(tables, id)->gaps;

	if (item->too_large || item->followed ||
	    __atomic_load_n(counted, __ATOMIC_RELAXED) < WORTH_FOLLOWING)
		return;
	item->followed = true;
	item->again = !nothing;
	item->wanted = take_count(counted, 0);
	if (nothing)
		item->state = PIECE_WAITING;
}

static void add_missed(struct tables *tables, uint32_t id)
{
	struct piece *item = &tables->items[id];
	uint32_t count = take_count(&tables_descriptor(tables, id)->missed, item->wanted);

	/* A free number has no executable. */
	if (count && !item->wanted && item->executable)
		item->executable->missed++;
	item->wanted += count;
}

/* Reads the counts of walkers at each descriptor. */
static void count_missed(struct tables *tables)
{
	for (uint32_t id = 1; id < tables->seen; id++) {
		struct piece *item = &tables->items[id];

		if (item->state == PIECE_READY || item->state == PIECE_NOTHING)
			look_at_gaps(tables, id);
		else
			add_missed(tables, id);
	}
}

void tables_look(struct tables *tables, uint32_t epoch)
{
	tables->ahead = true;
	tables_look_missed(tables, epoch);
}

void tables_look_missed(struct tables *tables, uint32_t epoch)
{
	bool later = epoch != tables->epoch;

	tables->epoch = epoch;
	turns_age(&tables->turns, clock_mono_ns());
	count_missed(tables);
	if (later) {
		tables_forget_unmapped(tables);
		chunks_tend(tables->chunks, epoch);
		tables_builders_rest(tables);
	}
	tables_settle(tables);
	tables_start(tables);
}

/* A piece that no process maps is not pending, nor is one that no walk has missed and that is not
 * built ahead. */
static bool is_pending(const struct piece *item, bool plenty)
{
	bool waits = item->state == PIECE_WAITING || item->state == PIECE_RETIRING;

	return item->state == PIECE_BUILDING ||
	       (waits && piece_is_mapped(item) &&
	        (item->wanted || tables_may_be_ahead(item, plenty)));
}

void tables_get_stats(const struct tables *tables, struct unwinder_stats *stats)
{
	size_t all = chunks_all_words(tables->chunks), left = chunks_free_words(tables->chunks);
	bool plenty = tables_have_plenty(tables);

	for (uint32_t id = 1; id < tables->seen; id++) {
		const struct piece *item = &tables->items[id];

		if (!item->executable)
			continue;
		stats->table_numbers++;
		stats->tables += item->state == PIECE_READY;
		stats->tables_without += item->state == PIECE_NOTHING;
		stats->tables_pending += is_pending(item, plenty);
	}
	stats->table_numbers_max = tables->count;
	stats->rows = tables->rows;
	stats->table_bytes_max = all * sizeof(uint32_t);
	stats->table_bytes = (all - left) * sizeof(uint32_t);
	stats->tables_built = tables->built;
	stats->tables_failed = tables->failed;
	stats->tables_evicted = tables->evicted;
	stats->build_seconds = tables->build_ns;
}

void tables_add_reader_stats(const struct tables *tables, struct reader_stats *stats)
{
	for (uint32_t i = 0; i < BUILDERS; i++)
		reader_add_stats(tables->builders[i].asker.reader, stats);
}
