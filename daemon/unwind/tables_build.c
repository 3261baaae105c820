/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which table is built next, and what is done with it. While there is room every executable gets
 * one before it is ever walked through. After that only those that walks have missed do, in the
 * place of tables that were not used for a while; a second at most one such exchange, so that more
 * code in use than fits does not mean building for ever.
 */
#include "unwind/tables_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "unwind/table_ask.h"

#include <errno.h>

enum {
	RETRY_EPOCHS = 10, /* after a refusal, doubled after each further one */
	MAX_DOUBLINGS = 6,
	TRIES = 16, /* executables that have gone from the store, skipped in one go */
};

static void run_build(struct job *job)
{
	struct build *build = (struct build *)job;
	uint64_t start = clock_mono_ns();

	build->error = table_ask(build->tables->reader, build->object, build->follow,
	                         build->max_words, &build->table);
	build->took_ns = clock_mono_ns() - start;
}

static void drop_build(struct build *build)
{
	table_free(build->table);
	build->table = NULL;
	build->id = 0;
	build->first = 0;
}

static void wait_again(struct tables *tables, uint32_t id)
{
	struct executable *item = &tables->items[id];

	item->state = EXECUTABLE_WAITING;
	item->wanted = 0;
	item->retry_epoch = tables->epoch + (RETRY_EPOCHS << item->retries);
	item->retries += item->retries < MAX_DOUBLINGS;
}

/* Once: what does not fit now will not for a long time, and the profiles say which stacks it cuts.
 */
static void refuse(struct tables *tables, uint32_t id, size_t words)
{
	tables_explain(tables, id, TABLE_NO_ROOM);
	if (!tables->said_full)
		log_warning("an unwind table of %zu KiB has no room: --unwind-memory is too small "
		            "for what runs here",
		            words * sizeof(uint32_t) / 1024);
	tables->said_full = true;
}

/* The table that makes way first: one that no process maps, else the one used longest ago. */
static uint32_t find_victim(const struct tables *tables)
{
	uint32_t victim = 0;

	for (uint32_t id = 1; id < tables->seen; id++) {
		bool mapped = tables->items[id].references, victim_mapped;

		if (!tables_evictable(tables, id))
			continue;
		victim_mapped = victim && tables->items[victim].references;
		if (!victim || mapped < victim_mapped ||
		    (mapped == victim_mapped &&
		     tables_used(tables, id) < tables_used(tables, victim)))
			victim = id;
	}
	return victim;
}

/* Words that would be free if all made way that may. */
static size_t possible_words(const struct tables *tables)
{
	size_t words = pool_free_elements(tables->pool) + tables->retired_words;

	for (uint32_t id = 1; id < tables->seen; id++) {
		if (tables_evictable(tables, id))
			words += tables->items[id].words;
	}
	return words;
}

/* What has no table comes before what is to have a better one. */
/* Where the words of the build go; 0 when there is no room, or not yet: it is tried again when what
 * made way has been given back. */
static size_t take_room(struct tables *tables)
{
	const struct executable *item = &tables->items[tables->build.id];
	size_t words = tables->build.table->word_count, first;
	uint32_t victim;

	/* Nobody makes way for a better table of what has one, nor where that would not do. */
	bool may_evict =
		item->wanted && item->state != EXECUTABLE_READY && possible_words(tables) >= words;

	while (!(first = pool_take(tables->pool, words))) {
		if (tables->retired_words && tables_give_retired(tables))
			continue;
		victim = may_evict && !tables->retired_words ? find_victim(tables) : 0;
		if (!victim)
			return 0;
		tables->evict_epoch = tables->epoch;
		tables_evict(tables, victim);
	}
	return first;
}

static void give_up(struct tables *tables, uint32_t id)
{
	struct executable *item = &tables->items[id];

	item->estimate = (uint32_t)tables->build.table->word_count;
	item->measured = true;
	item->refused = tables->gives;
	refuse(tables, id, item->estimate);
	wait_again(tables, id);
}

void tables_settle(struct tables *tables)
{
	struct build *build = &tables->build;
	struct executable *item = &tables->items[build->id];

	/* While the worker has it, the object is the build's. */
	if (build->object || !build->table || tables->stopped)
		return;
	if (!build->first)
		build->first = (uint32_t)take_room(tables);
	if (!build->first) {
		if (tables->retired_words)
			return;
		if (item->state != EXECUTABLE_READY)
			give_up(tables, build->id);
		drop_build(build);
		return;
	}
	/* The table that is there makes way when the other one has its place. */
	if (item->state == EXECUTABLE_READY)
		tables_replace(tables, build->id);
	if (item->state == EXECUTABLE_RETIRING && !tables_give_retired(tables))
		return;
	tables_publish(tables, build->id, build->table, build->first);
	tables->built++;
	drop_build(build);
}

static void failed(struct tables *tables, uint32_t id, int err)
{
	if (err != -ENODATA)
		tables->failed++;
	if (tables->items[id].state == EXECUTABLE_READY)
		return;
	/* Any other reason will be the same the next time. */
	if (err == -ENOMEM || err == -ECHILD) {
		wait_again(tables, id);
		return;
	}
	tables->items[id].state = EXECUTABLE_NOTHING;
	tables->items[id].too_large = err == -E2BIG;
	if (err == -E2BIG)
		refuse(tables, id, tables->build.max_words);
	else
		tables_explain(tables, id, TABLE_NOTHING);
}

static void build_done(struct job *job)
{
	struct build *build = (struct build *)job;
	struct tables *tables = build->tables;

	object_unref(build->object);
	build->object = NULL;
	tables->build_ns += build->took_ns;
	if (tables->stopped) {
		drop_build(build);
		return;
	}
	if (build->error) {
		failed(tables, build->id, build->error);
		drop_build(build);
	}
	tables_settle(tables);
	tables_start(tables);
}

static bool fits(const struct tables *tables, const struct executable *item)
{
	return item->refused != tables->gives && item->estimate <= pool_free_elements(tables->pool);
}

static bool is_before(const struct executable *a, const struct executable *b)
{
	if (a->again != b->again)
		return b->again;
	return a->wanted > b->wanted;
}

static uint32_t pick(const struct tables *tables)
{
	bool exchange = tables->evict_epoch < tables->epoch;
	size_t possible = exchange ? possible_words(tables) : 0;
	uint32_t best = 0;

	for (uint32_t id = 1; id < tables->seen; id++) {
		const struct executable *item = &tables->items[id];

		if (item->again && item->references && !best)
			best = id;
		if (item->state != EXECUTABLE_WAITING || !item->references ||
		    item->retry_epoch > tables->epoch ||
		    (!fits(tables, item) && !(item->wanted && exchange &&
		                              (!item->measured || item->estimate <= possible))))
			continue;
		if (!best || is_before(item, &tables->items[best]))
			best = id;
	}
	return best;
}

void tables_start(struct tables *tables)
{
	struct build *build = &tables->build;

	for (int i = 0; i < TRIES && !build->id && !tables->stopped; i++) {
		uint32_t id = pick(tables);

		if (!id)
			return;
		build->object = store_get(tables->store, tables->items[id].object);
		if (!build->object) {
			if (tables->items[id].state == EXECUTABLE_WAITING)
				wait_again(tables, id);
			tables->items[id].again = false;
			continue;
		}
		build->job = (struct job){.run = run_build, .done = build_done};
		build->tables = tables;
		build->id = id;
		build->follow = tables->items[id].followed;
		build->max_words = tables->memory->pool_words;
		build->took_ns = 0;
		build->error = -ECANCELED;
		tables->items[id].again = false;
		if (tables->items[id].state == EXECUTABLE_WAITING)
			tables->items[id].state = EXECUTABLE_BUILDING;
		if (lane_submit(tables->lane, &build->job))
			build_done(&build->job);
	}
}
