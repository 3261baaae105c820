/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Descriptors and their words. The daemon is the only writer of both, but for `used` and `missed`;
 * `base` is the switch: stored last when a table is published, first when it is taken away.
 */
#include "unwind/tables_private.h"

#include "base/bounds.h"

#include <string.h>

enum {
	POOL_GRAIN = 64,
	WORTH_FOLLOWING = 2, /* frames; a single one may have been a stray address */
	/* For want of better until a table was built once: 20 rows a KiB of text, and the index. */
	TEXT_BYTES_A_WORD = 32,
	/* The walker compares where a block begins with the pool's end less a block. */
	POOL_SLACK = BLOCK_BYTES,
};

static struct unwind_table *descriptor(const struct tables *tables, uint32_t id)
{
	return &tables->memory->tables[id];
}

struct tables *tables_new(uv_loop_t *loop, struct store *store, const struct unwind_memory *memory)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	size_t words = memory->pool_words > POOL_SLACK ? memory->pool_words - POOL_SLACK : 0;

	if (!tables)
		return NULL;
	tables->store = store;
	tables->memory = memory;
	tables->count =
		memory->table_count < UINT32_MAX ? (uint32_t)memory->table_count : UINT32_MAX;
	tables->seen = 1;
	tables->pool = pool_new(words < UINT32_MAX ? words : UINT32_MAX, POOL_GRAIN);
	tables->lane = lane_new(loop, 1);
	tables->reader = reader_new(
		&(struct reader_program){READER_SELF, "tables", MAX_TABLE_READER_BYTES, 0});
	tables->items = calloc(tables->count + 1, sizeof(*tables->items));
	if (!tables->pool || !tables->lane || !tables->reader || !tables->items) {
		tables_free(tables);
		return NULL;
	}
	return tables;
}

void tables_stop(struct tables *tables)
{
	tables->stopped = true;
	lane_stop(tables->lane);
	/* What it has begun is waited for, but its answer is of no use. */
	reader_cancel(tables->reader);
}

void tables_free(struct tables *tables)
{
	if (!tables)
		return;
	HASH_CLEAR(hh, tables->by_object);
	lane_free(tables->lane);
	reader_free(tables->reader);
	pool_free(tables->pool);
	table_free(tables->build.table);
	free(tables->items);
	free(tables);
}

uint32_t tables_used(const struct tables *tables, uint32_t id)
{
	return __atomic_load_n(&descriptor(tables, id)->used, __ATOMIC_RELAXED);
}

bool tables_evictable(const struct tables *tables, uint32_t id)
{
	const struct executable *item = &tables->items[id];

	/* What was walked through in the last second or so is no better than what is wanted. */
	return item->state == EXECUTABLE_READY &&
	       (!item->references || tables_used(tables, id) + 1 < tables->epoch);
}

static void give_words(struct tables *tables, struct executable *item)
{
	pool_give(tables->pool, item->first, item->words);
	item->first = item->words = 0;
	tables->gives++;
}

void tables_explain(struct tables *tables, uint32_t id, enum table_state why)
{
	__atomic_store_n(&descriptor(tables, id)->why, why, __ATOMIC_RELAXED);
}

static void unpublish(struct tables *tables, uint32_t id)
{
	__atomic_store_n(&descriptor(tables, id)->base, 0, __ATOMIC_RELEASE);
	tables_explain(tables, id, TABLE_PENDING);
	tables->rows -= tables->items[id].rows;
	tables->items[id].rows = 0;
}

void tables_replace(struct tables *tables, uint32_t id)
{
	struct executable *item = &tables->items[id];

	unpublish(tables, id);
	if (item->references) {
		item->state = EXECUTABLE_RETIRING;
		tables->retired_words += item->words;
	} else {
		item->state = EXECUTABLE_WAITING;
		give_words(tables, item);
	}
}

void tables_evict(struct tables *tables, uint32_t id)
{
	struct executable *item = &tables->items[id];

	tables_replace(tables, id);
	item->wanted = 0;
	item->again = false;
	/* It made way because it is not used: it comes back when it is. */
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
		struct executable *item = &tables->items[id];

		if (item->state != EXECUTABLE_RETIRING)
			continue;
		give_words(tables, item);
		item->state = EXECUTABLE_WAITING;
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

void tables_publish(struct tables *tables, uint32_t id, const struct table *table, uint32_t first)
{
	struct executable *item = &tables->items[id];
	struct unwind_table *shared = descriptor(tables, id);

	memcpy(&tables->memory->pool[first], table->words,
	       table->word_count * sizeof(*table->words));
	shared->text = table->text;
	shared->blocks = table->blocks;
	tables_explain(tables, id, TABLE_READY);
	__atomic_store_n(&shared->used, tables->epoch, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->missed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->base, first, __ATOMIC_RELEASE);
	item->state = EXECUTABLE_READY;
	item->first = first;
	item->words = (uint32_t)(table->word_count + POOL_GRAIN - 1) / POOL_GRAIN * POOL_GRAIN;
	item->estimate = item->words;
	item->measured = true;
	item->rows = (uint32_t)table->row_count;
	item->wanted = 0;
	item->retries = 0;
	tables->rows += item->rows;
}

/* Frees the descriptor that no mapping refers to and that was used longest ago. */
static uint32_t recycle(struct tables *tables)
{
	uint32_t oldest = 0;

	for (uint32_t id = 1; id < tables->seen; id++) {
		const struct executable *item = &tables->items[id];

		if (item->references || item->state == EXECUTABLE_RETIRING ||
		    id == tables->build.id)
			continue;
		if (!oldest || tables_used(tables, id) < tables_used(tables, oldest))
			oldest = id;
	}
	if (!oldest)
		return 0;
	if (tables->items[oldest].state == EXECUTABLE_READY)
		tables_evict(tables, oldest);
	/* Unless there was no memory to add it. */
	if (tables->items[oldest].hh.tbl)
		HASH_DEL(tables->by_object, &tables->items[oldest]);
	memset(&tables->items[oldest], 0, sizeof(tables->items[oldest]));
	return oldest;
}

static uint32_t estimate(const struct object *object)
{
	uint64_t words = object->text.file_bytes / TEXT_BYTES_A_WORD + 1;

	return words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
}

uint32_t tables_take(struct tables *tables, const struct object *object)
{
	struct executable *item;

	HASH_FIND(hh, tables->by_object, &object->id, sizeof(object->id), item);
	if (!item) {
		uint32_t id = tables->seen < tables->count ? tables->seen : recycle(tables);

		if (!id)
			return 0;
		tables->seen += id == tables->seen;
		item = &tables->items[id];
		item->object = object->id;
		HASH_ADD(hh, tables->by_object, object, sizeof(item->object), item);
		if (!item->hh.tbl) {
			memset(item, 0, sizeof(*item));
			return 0;
		}
		item->state = EXECUTABLE_WAITING;
		item->estimate = estimate(object);
		item->refused = UINT64_MAX;
		tables->taken_new = true;
		memset(descriptor(tables, id), 0, sizeof(struct unwind_table));
	}
	item->references++;
	return (uint32_t)(item - tables->items);
}

void tables_give(struct tables *tables, uint32_t id)
{
	if (id)
		tables->items[id].references--;
}

void tables_build_new(struct tables *tables)
{
	if (!tables->taken_new)
		return;
	tables->taken_new = false;
	tables_start(tables);
}

/* What walkers counted since the last time, up to what may be added to `so_far`. */
static uint32_t take_count(uint32_t *counted, uint32_t so_far)
{
	uint32_t count = 0;

	/* Mostly there is none, and the line stays shared. */
	if (__atomic_load_n(counted, __ATOMIC_RELAXED))
		count = __atomic_exchange_n(counted, 0, __ATOMIC_RELAXED);
	return count < UINT32_MAX - so_far ? count : UINT32_MAX - so_far;
}

/* Walks came through code without rows: following it is worth its time now. */
static void look_at_gaps(struct tables *tables, uint32_t id)
{
	struct executable *item = &tables->items[id];
	bool nothing = item->state == EXECUTABLE_NOTHING;
	uint32_t *counted =
		nothing ? &descriptor(tables, id)->missed : &descriptor(tables, id)->gaps;

	if (item->too_large || item->followed ||
	    __atomic_load_n(counted, __ATOMIC_RELAXED) < WORTH_FOLLOWING)
		return;
	item->followed = true;
	item->again = !nothing;
	if (nothing)
		item->state = EXECUTABLE_WAITING;
}

void tables_look(struct tables *tables, uint32_t epoch)
{
	tables->epoch = epoch;
	for (uint32_t id = 1; id < tables->seen; id++) {
		struct executable *item = &tables->items[id];

		if (item->state == EXECUTABLE_READY || item->state == EXECUTABLE_NOTHING)
			look_at_gaps(tables, id);
		else
			item->wanted += take_count(&descriptor(tables, id)->missed, item->wanted);
	}
	tables_settle(tables);
	tables_start(tables);
}

void tables_get_stats(const struct tables *tables, struct unwinder_stats *stats)
{
	size_t all = pool_free_elements(tables->pool);

	for (uint32_t id = 1; id < tables->seen; id++) {
		enum executable_state state = tables->items[id].state;

		stats->tables += state == EXECUTABLE_READY;
		stats->tables_without += state == EXECUTABLE_NOTHING;
		/* One that nobody runs any more is not built until somebody does. */
		stats->tables_pending +=
			(state == EXECUTABLE_WAITING && tables->items[id].references) ||
			state == EXECUTABLE_BUILDING || state == EXECUTABLE_RETIRING;
	}
	stats->rows = tables->rows;
	stats->table_bytes_max = tables->memory->pool_words * sizeof(uint32_t);
	stats->table_bytes = stats->table_bytes_max - all * sizeof(uint32_t);
	stats->tables_built = tables->built;
	stats->tables_failed = tables->failed;
	stats->tables_evicted = tables->evicted;
	stats->build_seconds = tables->build_ns;
}

void tables_add_reader_stats(const struct tables *tables, struct reader_stats *stats)
{
	reader_add_stats(tables->reader, stats);
}
