/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Places tables and mappings one after the other and never frees any, because a test is short.
 */
#include "tests/bpf/world.h"

#include <errno.h>
#include <string.h>

enum {
	TABLES = 16384,
	MAPPINGS = 1 << 18,
	SLOTS = 64 * SLOTS_PER_BUCKET,
};

struct world *world_new(size_t pool_words)
{
	_cleanup_(world_freep) struct world *world = calloc(1, sizeof(*world));

	if (!world)
		return NULL;
	world->maps.pool = calloc(pool_words, sizeof(*world->maps.pool));
	world->maps.pool_words = pool_words;
	world->maps.tables = calloc(TABLES, sizeof(*world->maps.tables));
	world->maps.table_count = TABLES;
	world->maps.mappings = calloc(MAPPINGS, sizeof(*world->maps.mappings));
	world->maps.mapping_count = MAPPINGS;
	world->maps.slots = calloc(SLOTS, sizeof(*world->maps.slots));
	world->maps.slot_count = SLOTS;
	if (!world->maps.pool || !world->maps.tables || !world->maps.mappings || !world->maps.slots)
		return NULL;
	/* In each of the three, 0 means none. */
	world->pool_used = world->tables_used = world->mappings_used = 1;
	return TAKE_PTR(world);
}

void world_free(struct world *world)
{
	if (!world)
		return;
	free(world->maps.pool);
	free(world->maps.tables);
	free(world->maps.mappings);
	free(world->maps.slots);
	free(world);
}

/* Words left in the chunk that is being filled. The walker does not use a chunk's last CHUNK_SLACK
 * words. */
static size_t chunk_room(const struct world *world)
{
	size_t used = (world->pool_used & (CHUNK_WORDS - 1)) + CHUNK_SLACK;

	if (world->pool_used >= world->maps.pool_words || used >= CHUNK_WORDS)
		return 0;
	return CHUNK_WORDS - used;
}

size_t world_room(const struct world *world)
{
	bool another = world->pool_used / CHUNK_WORDS + 1 < world->maps.pool_words / CHUNK_WORDS;

	return another ? CHUNK_WORDS - CHUNK_SLACK : chunk_room(world);
}

u32 world_add_table(struct world *world, const struct table *table)
{
	struct unwind_table *entry;

	if (world->tables_used == TABLES || table->word_count > world_room(world))
		return 0;
	if (table->word_count > chunk_room(world))
		world->pool_used = (world->pool_used / CHUNK_WORDS + 1) * CHUNK_WORDS;
	entry = &world->maps.tables[world->tables_used];
	memcpy(world->maps.pool + world->pool_used, table->words, table->word_count * sizeof(u32));
	*entry = (struct unwind_table){
		.text = table->text,
		.blocks = table->blocks,
		.base = (u32)world->pool_used,
		.why = TABLE_READY,
	};
	world->pool_used += table->word_count;
	return (u32)world->tables_used++;
}

u32 world_add_none(struct world *world)
{
	if (world->tables_used == TABLES)
		return 0;
	world->maps.tables[world->tables_used] = (struct unwind_table){.why = TABLE_NOTHING};
	return (u32)world->tables_used++;
}

static u64 *find_slot(struct world *world, u32 pid)
{
	u64 *bucket = world->maps.slots;
	size_t buckets = world->maps.slot_count / SLOTS_PER_BUCKET;

	bucket += (pid & (buckets - 1)) * SLOTS_PER_BUCKET;
	for (size_t i = 0; i < SLOTS_PER_BUCKET; i++)
		if (bucket[i] == 0 || bucket[i] >> SLOT_PID_SHIFT == pid)
			return &bucket[i];
	return NULL;
}

int world_set_mappings(struct world *world, u32 pid, const struct unwind_mapping *mappings,
                       size_t count)
{
	u64 *slot = find_slot(world, pid);
	size_t first;

	if (!slot)
		return -ENOSPC;
	first = *slot >> SLOT_FIRST_SHIFT & SLOT_FIRST_MAX;
	if (count > (*slot & SLOT_COUNT_MAX)) {
		if (count > SLOT_COUNT_MAX || count > MAPPINGS - world->mappings_used)
			return -ENOSPC;
		first = world->mappings_used;
		world->mappings_used += count;
	}
	memcpy(world->maps.mappings + first, mappings, count * sizeof(*mappings));
	*slot = (u64)pid << SLOT_PID_SHIFT | (u64)first << SLOT_FIRST_SHIFT | count;
	return 0;
}
