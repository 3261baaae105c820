/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Set up before and taken down after each test.
 */
#include "tests/unit/unwind_fixture.h"

#include "base/clock.h"
#include "unwind/table.h"

#include <check.h>
#include <unistd.h>

const struct file_key no_file;
struct unwind_fixture fixture;

static bool quiet(void *ctx)
{
	ck_assert_ptr_eq(ctx, &fixture.memory);
	fixture.asked++;
	return fixture.is_quiet;
}

void fixture_set_up(void)
{
	ck_assert_int_eq(uv_loop_init(&fixture.loop), 0);
	fixture.store = store_new(256);
	fixture.procs = procs_new(fixture.store);
	fixture.memory = (struct unwind_memory){
		.pool = calloc(POOL_WORDS, sizeof(*fixture.memory.pool)),
		.pool_words = POOL_WORDS,
		.tables = calloc(TABLES, sizeof(*fixture.memory.tables)),
		.table_count = TABLES,
		.mappings = calloc(MAPPINGS, sizeof(*fixture.memory.mappings)),
		.mapping_count = MAPPINGS,
		.slots = calloc(SLOTS, sizeof(*fixture.memory.slots)),
		.slot_count = SLOTS,
		.execs = calloc(EXEC_TIMES, sizeof(*fixture.memory.execs)),
		.epoch = &fixture.epoch,
		.quiet = quiet,
		.ctx = &fixture.memory,
	};
	fixture.is_quiet = true;
	fixture.asked = 0;
}

void fixture_tear_down(void)
{
	if (fixture.unwinder) {
		unwinder_stop(fixture.unwinder);
		uv_run(&fixture.loop, UV_RUN_DEFAULT);
		unwinder_free(fixture.unwinder);
		fixture.unwinder = NULL;
	}
	ck_assert_int_eq(uv_loop_close(&fixture.loop), 0);
	procs_free(fixture.procs);
	store_free(fixture.store);
	free(fixture.memory.pool);
	free(fixture.memory.tables);
	free(fixture.memory.mappings);
	free(fixture.memory.slots);
	free(fixture.memory.execs);
}

void fixture_start(void)
{
	fixture.unwinder =
		unwinder_new(&fixture.loop, fixture.procs, fixture.store, &fixture.memory);
	ck_assert_ptr_nonnull(fixture.unwinder);
}

void fixture_sync_now(void)
{
	unwinder_sync(fixture.unwinder, clock_mono_ns());
}

struct unwinder_stats fixture_stats(void)
{
	struct unwinder_stats result;

	unwinder_get_stats(fixture.unwinder, &result);
	return result;
}

const struct mapping_set *fixture_own_mappings(void)
{
	const struct image *image = procs_image(fixture.procs, (uint32_t)getpid(), clock_mono_ns());

	ck_assert_ptr_nonnull(image);
	return image->set;
}

uint64_t fixture_slot_of(uint32_t pid)
{
	const uint64_t *bucket =
		&fixture.memory.slots[(pid * SLOTS_PER_BUCKET) & (fixture.memory.slot_count - 1)];

	for (int i = 0; i < SLOTS_PER_BUCKET; i++) {
		if (bucket[i] >> SLOT_PID_SHIFT == pid)
			return bucket[i];
	}
	return 0;
}

uint32_t fixture_first_of(uint64_t slot)
{
	return slot >> SLOT_FIRST_SHIFT & SLOT_FIRST_MAX;
}

const struct unwind_mapping *fixture_find_mapping(uint32_t pid, uint64_t address)
{
	uint64_t slot = fixture_slot_of(pid);

	for (uint32_t i = 0; i < (slot & SLOT_COUNT_MAX); i++) {
		const struct unwind_mapping *mapping =
			&fixture.memory.mappings[fixture_first_of(slot) + i];

		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

void fixture_build_all(void)
{
	fixture_sync_now();
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
}

uint32_t fixture_find_op(uint32_t id, uint64_t own)
{
	const struct unwind_table *shared = &fixture.memory.tables[id];

	ck_assert_uint_ne(shared->base, 0);
	struct table table = {.text = shared->text,
	                      .blocks = shared->blocks,
	                      .words = &fixture.memory.pool[shared->base]};
	return table_find(&table, own);
}
