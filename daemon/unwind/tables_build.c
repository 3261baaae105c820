/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builders. Each waits for a reader process on its own thread; the process ends when there was
 * nothing to build for a while. The first builder gets all the work, until something waits while it
 * is busy.
 */
#include "unwind/tables_private.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/log.h"
#include "unwind/table_ask.h"

#include <errno.h>
#include <unistd.h>

enum {
	CPUS_A_BUILDER = 2,
	RETRY_EPOCHS = 10, /* after a refusal, doubled after each further refusal */
	MAX_DOUBLINGS = 6,
	FOLLOWER_NICENESS = 10, /* the builders of tables get the CPU first */
	TRIES = 16,             /* executables that are gone from the store, skipped in one call */
};

static const uint64_t rest_ns = 10 * NSEC_PER_SEC;
/* Most builds take milliseconds; those do not count towards a user's turn. */
static const uint64_t long_ns = NSEC_PER_SEC;

static const enum work_lane lanes[BUILDERS] = {
	WORK_tables_0, WORK_tables_1, WORK_tables_2, WORK_tables_3, [FOLLOWER] = WORK_code,
};

int tables_builders_init(struct tables *tables, uv_loop_t *loop)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN) / CPUS_A_BUILDER;

	tables->builder_count = cpus < 1 ? 1 : cpus > MAX_BUILDERS ? MAX_BUILDERS : (uint32_t)cpus;
	for (uint32_t i = 0; i < BUILDERS; i++) {
		struct builder *builder = &tables->builders[i];

		builder->tables = tables;
		builder->lane = lane_new(loop, lanes[i], 1);
		builder->asker.reader = reader_new(&(struct reader_program){
			READER_SELF, i == FOLLOWER ? "code" : "tables", MAX_TABLE_READER_BYTES,
			i == FOLLOWER ? FOLLOWER_NICENESS : 0});
		if (builder->asker.reader && i != FOLLOWER)
			reader_hurry(builder->asker.reader, READER_FIRST_NS);
		builder->asker.aside = aside_new();
		if (!builder->lane || !builder->asker.reader || !builder->asker.aside)
			return -ENOMEM;
	}
	return 0;
}

void tables_builders_stop(struct tables *tables)
{
	for (uint32_t i = 0; i < BUILDERS; i++) {
		lane_stop(tables->builders[i].lane);
		/* A build that has begun is waited for, but its answer is not needed. */
		reader_cancel(tables->builders[i].asker.reader);
	}
}

void tables_builders_release(struct tables *tables)
{
	for (uint32_t i = 0; i < BUILDERS; i++) {
		lane_free(tables->builders[i].lane);
		reader_free(tables->builders[i].asker.reader);
		aside_free(tables->builders[i].asker.aside);
		table_free(tables->builders[i].table);
	}
}

void tables_builders_rest(struct tables *tables)
{
	for (uint32_t i = 0; i < BUILDERS; i++) {
		struct builder *builder = &tables->builders[i];

		/* The lane is idle then, so its thread does not use the reader. */
		if (!builder->object && !lane_length(builder->lane))
			reader_rest(builder->asker.reader, rest_ns);
	}
}

static void run_build(struct job *job)
{
	struct builder *builder = (struct builder *)job;
	uint64_t start = clock_mono_ns();

	reader_of_user(builder->asker.reader,
	               reader_user(builder->object->user, builder->object->owner));
	builder->error = table_ask(&builder->asker, builder->object, builder->follow, builder->part,
	                           CHUNK_ROOM, &builder->table);
	builder->took_ns = clock_mono_ns() - start;
}

static void drop_build(struct builder *builder)
{
	builder->tables->items[builder->id].in_work = false;
	table_free(builder->table);
	builder->table = NULL;
	builder->id = 0;
	builder->base = 0;
	builder->exchange = false;
}

static void wait_again(struct tables *tables, uint32_t id)
{
	struct piece *item = &tables->items[id];

	item->state = PIECE_WAITING;
	item->wanted = 0;
	item->retry_epoch = tables->epoch + (RETRY_EPOCHS << item->retries);
	item->retries += item->retries < MAX_DOUBLINGS;
}

/* Logs once: a table that does not fit now will not fit for a long time, and the profiles show
 * which stacks are truncated. */
static void refuse(struct tables *tables, uint32_t id, size_t words)
{
	tables_explain(tables, id, TABLE_NO_ROOM);
	if (!tables->said_full)
		log_warning("no room for an unwind table of %zu KiB: --unwind-memory is too small "
		            "for the programs of this host",
		            words * sizeof(uint32_t) / 1024);
	tables->said_full = true;
}

/* A file is one piece where no numbers were left for several. */
static void refuse_large(struct tables *tables, uint32_t id)
{
	tables_explain(tables, id, TABLE_NO_ROOM);
	if (!tables->said_large)
		log_warning("a file needs several unwind tables, but its user has no table numbers "
		            "left: too many large files run at the same time");
	tables->said_large = true;
}

/* No table is evicted to improve a piece that has a table, or if evictions could not make enough
 * room. */
static bool may_evict(const struct tables *tables, const struct builder *builder)
{
	const struct piece *item = &tables->items[builder->id];

	return item->wanted && item->state != PIECE_READY &&
	       tables_possible_words(tables) >= builder->table->word_count;
}

/* Whether the build may evict. There is one exchange a second; in it several tables may be evicted,
 * at once and again after walkers have left the evicted ones. */
static bool is_its_turn(const struct tables *tables, const struct builder *builder)
{
	return builder->exchange || tables->evict_epoch < tables->epoch;
}

/* Finds the place for the build's words. 0: there is no room, or not yet; it is tried again when
 * the words of evicted tables have been given back. */
static uint32_t take_room(struct tables *tables, struct builder *builder)
{
	bool evict = is_its_turn(tables, builder) && may_evict(tables, builder);
	uint32_t victim, base;

	while (!(base = chunks_take(tables->chunks, builder->table->word_count))) {
		if (tables->retired_words && tables_give_retired(tables))
			continue;
		victim = evict && !tables->retired_words ? tables_victim(tables) : 0;
		if (!victim)
			return 0;
		builder->exchange = true;
		tables->evict_epoch = tables->epoch;
		tables_evict(tables, victim);
	}
	return base;
}

static void give_up(struct tables *tables, const struct builder *builder)
{
	struct piece *item = &tables->items[builder->id];

	item->estimate = (uint32_t)builder->table->word_count;
	item->measured = true;
	item->refused = tables->gives;
	refuse(tables, builder->id, item->estimate);
	wait_again(tables, builder->id);
}

static void settle(struct tables *tables, struct builder *builder)
{
	struct piece *item = &tables->items[builder->id];

	/* The object is set while the worker thread builds. */
	if (builder->object || !builder->table)
		return;
	if (!builder->base)
		builder->base = take_room(tables, builder);
	if (!builder->base) {
		if (tables->retired_words ||
		    (!is_its_turn(tables, builder) && may_evict(tables, builder)))
			return;
		if (item->state != PIECE_READY)
			give_up(tables, builder);
		drop_build(builder);
		return;
	}
	/* The old table is retired only when the new one has its place. */
	if (item->state == PIECE_READY)
		tables_replace(tables, builder->id);
	if (item->state == PIECE_RETIRING && !tables_give_retired(tables))
		return;
	tables_publish(tables, builder->id, builder->table, builder->base);
	tables->built++;
	drop_build(builder);
}

void tables_settle(struct tables *tables)
{
	for (uint32_t i = 0; i < BUILDERS && !tables->stopped; i++)
		settle(tables, &tables->builders[i]);
}

static void failed(struct tables *tables, uint32_t id, int err)
{
	struct piece *item = &tables->items[id];

	if (err == -ETIMEDOUT && !item->late) {
		item->late = true;
		item->state = PIECE_WAITING;
		return;
	}
	if (err != -ENODATA)
		tables->failed++;
	if (item->state == PIECE_READY)
		return;
	/* Any other failure would be the same the next time. */
	if (err == -ENOMEM || err == -ECHILD) {
		wait_again(tables, id);
		return;
	}
	item->state = PIECE_NOTHING;
	item->too_large = err == -E2BIG;
	if (err == -E2BIG)
		refuse_large(tables, id);
	else
		tables_explain(tables, id, TABLE_NOTHING);
	/* Reset the count: some of the frames that missed this table were data that looked like
	 * code addresses. */
	__atomic_store_n(&tables_descriptor(tables, id)->missed, 0, __ATOMIC_RELAXED);
}

static void build_done(struct job *job)
{
	struct builder *builder = (struct builder *)job;
	struct tables *tables = builder->tables;

	object_unref(builder->object);
	builder->object = NULL;
	tables->build_ns += builder->took_ns;
	if (builder->took_ns > long_ns && builder != &tables->builders[FOLLOWER])
		turns_note(&tables->turns, builder->user, builder->took_ns);
	if (tables->stopped) {
		drop_build(builder);
		return;
	}
	if (builder->error) {
		failed(tables, builder->id, builder->error);
		drop_build(builder);
	}
	tables_settle(tables);
	tables_start(tables);
}

static bool begin(struct tables *tables, struct builder *builder, uint32_t id)
{
	struct piece *item = &tables->items[id];
	const struct executable *executable = item->executable;

	/* At most one table that no walk has missed is built for each tables_look(). */
	if (!item->wanted && !item->again)
		tables->ahead = false;
	item->again = false;
	builder->object = store_get(tables->store, executable->object);
	if (!builder->object) {
		if (item->state == PIECE_WAITING)
			wait_again(tables, id);
		return false;
	}
	builder->job = (struct job){.run = run_build, .done = build_done};
	builder->id = id;
	builder->user = LANE_USER(executable->user);
	builder->follow = item->followed;
	builder->part = piece_range(&executable->pieces, id - executable->first);
	builder->took_ns = 0;
	builder->error = -ECANCELED;
	item->in_work = true;
	if (item->state == PIECE_WAITING)
		item->state = PIECE_BUILDING;
	if (lane_submit(builder->lane, &builder->job))
		build_done(&builder->job);
	return true;
}

/* Returns false when there is nothing to build. */
static bool start_one(struct tables *tables, struct builder *builder)
{
	for (int i = 0; i < TRIES; i++) {
		uint32_t id = tables_pick(tables, builder == &tables->builders[FOLLOWER]);

		if (!id)
			return false;
		if (begin(tables, builder, id))
			return true;
	}
	return false;
}

bool tables_building(const struct tables *tables)
{
	bool building = false;

	for (uint32_t i = 0; i < tables->builder_count; i++)
		building |= tables->builders[i].id != 0;
	return building;
}

void tables_start(struct tables *tables)
{
	bool more = true;

	for (uint32_t i = 0; i < tables->builder_count && more && !tables->stopped; i++)
		more = tables->builders[i].id || start_one(tables, &tables->builders[i]);
	if (!tables->stopped && !tables->builders[FOLLOWER].id)
		start_one(tables, &tables->builders[FOLLOWER]);
}
