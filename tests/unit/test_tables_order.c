/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which tables are built, in which order, by how many builders, and what happens to them when the
 * file is not mapped any more.
 */
#include "unwind/tables_private.h"

#include "base/clock.h"
#include "tests/unit/suites.h"
#include "tests/unit/unwind_fixture.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	KEPT = 40,  /* epochs: longer than the table of an unmapped file is kept */
	PIECES = 6, /* too many to be built before they are missed */
};

struct files {
	struct object *small[2], *large;
	uint32_t small_ids[2], large_id;
};

static struct files find_files(struct tables *tables)
{
	struct files files = {
		.small = {fixture_open_file(1), fixture_open_file(1)},
		.large = fixture_open_file(PIECES),
	};

	files.small_ids[0] = tables_take(tables, files.small[0], 0);
	files.small_ids[1] = tables_take(tables, files.small[1], 0);
	files.large_id = tables_take(tables, files.large, 0);
	return files;
}

static void end(struct tables *tables, struct files *files)
{
	object_unref(files->small[0]);
	object_unref(files->small[1]);
	object_unref(files->large);
	fixture_end_tables(tables);
}

START_TEST(order)
{
	struct tables *tables = fixture_new_tables();
	struct files files = find_files(tables);
	struct piece *items = tables->items;

	/* No table is missed: the smaller one is built, and none of the large file's. */
	items[files.small_ids[0]].estimate--;
	tables->ahead = true;
	ck_assert_uint_eq(tables_pick(tables, false), files.small_ids[0]);
	items[files.large_id + 1].wanted = 1;
	ck_assert_uint_eq(tables_pick(tables, false), files.large_id + 1);
	items[files.small_ids[1]].wanted = 1;
	items[files.small_ids[1]].estimate = items[files.large_id + 1].estimate / 2;
	ck_assert_uint_eq(tables_pick(tables, false), files.small_ids[1]);
	items[files.large_id + 2].wanted = 5;
	ck_assert_uint_eq(tables_pick(tables, false), files.large_id + 2);
	/* Tables whose processes have ended are not built. */
	tables_give(tables, files.large_id + 2);
	ck_assert_uint_eq(tables_pick(tables, false), files.small_ids[1]);
	tables_give(tables, files.small_ids[0]);
	tables_give(tables, files.small_ids[1]);
	ck_assert_uint_eq(tables_pick(tables, false), 0);
	end(tables, &files);
}
END_TEST

START_TEST(large_files_by_need)
{
	struct tables *tables = fixture_new_tables();
	struct files files = find_files(tables);
	uint32_t epoch = 2;

	for (; epoch < 10; epoch++)
		fixture_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 2);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_pending, 0);
	fixture.memory.tables[files.large_id + 2].missed = 3;
	tables_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_pending, 1);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 3);
	ck_assert_uint_ne(fixture.memory.tables[files.large_id + 2].base, 0);
	ck_assert_uint_eq(fixture.memory.tables[files.large_id + 1].base, 0);
	end(tables, &files);
}
END_TEST

START_TEST(others_of_a_file_that_is_missed_again_and_again)
{
	struct tables *tables = fixture_new_tables();
	struct files files = find_files(tables);
	struct unwind_table *shared = fixture.memory.tables;

	shared[files.large_id + 1].missed = shared[files.large_id + 2].missed = 1;
	fixture_look(tables, 2);
	ck_assert_uint_eq(shared[files.large_id + 4].base, 0);
	shared[files.large_id + 3].missed = 1;
	fixture_look(tables, 2);
	for (uint32_t i = 0; i < PIECES; i++)
		ck_assert_uint_ne(shared[files.large_id + i].base, 0);
	end(tables, &files);
}
END_TEST

START_TEST(two_at_once)
{
	struct tables *tables = fixture_new_tables();
	struct files files = find_files(tables);
	struct reader_stats readers = {0};

	tables->builder_count = 2;
	fixture.memory.tables[files.large_id + 1].missed = 1;
	tables_look(tables, 2);
	/* A table that is not missed is built by one builder, if at all. */
	ck_assert_uint_eq(tables->builders[0].id, files.large_id + 1);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	tables_add_reader_stats(tables, &readers);
	for (uint32_t i = 2; i < PIECES; i++)
		fixture.memory.tables[files.large_id + i].missed = 1;
	tables_look(tables, 3);
	ck_assert_uint_ne(tables->builders[0].id, 0);
	ck_assert_uint_ne(tables->builders[1].id, 0);
	ck_assert_uint_ne(tables->builders[0].id, tables->builders[1].id);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	ck_assert_uint_ge(fixture_stats_of(tables).tables, 4);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_pending, 0);
	struct reader_stats both = {0};
	tables_add_reader_stats(tables, &both);
	ck_assert_uint_eq(both.starts, 2);
	end(tables, &files);
}
END_TEST

START_TEST(what_nobody_maps_is_given_back)
{
	struct tables *tables = fixture_new_tables();
	struct files files = find_files(tables);
	uint32_t epoch = 2;

	fixture.memory.tables[files.large_id + 2].missed = 3;
	for (; epoch < 10; epoch++)
		fixture_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 3);
	ck_assert_uint_eq(fixture_chunks(), 1);
	tables_give(tables, files.small_ids[0]);
	tables_give(tables, files.large_id);
	/* Kept for a while: a process that maps the file meanwhile has a table at once. */
	tables_look(tables, ++epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 3);
	ck_assert_uint_eq(tables_take(tables, files.small[0], 0), files.small_ids[0]);
	epoch += KEPT;
	tables_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 2);
	tables_give(tables, files.small_ids[0]);
	tables_give(tables, files.small_ids[1]);
	epoch += KEPT;
	tables_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 0);
	ck_assert_uint_eq(fixture_stats_of(tables).table_bytes, 0);
	for (int i = 0; i < KEPT; i++)
		tables_look(tables, ++epoch);
	ck_assert_uint_eq(fixture_chunks(), 0);
	ck_assert_uint_ne(tables_take(tables, files.small[0], 0), 0);
	end(tables, &files);
}
END_TEST

START_TEST(few_descriptors_are_left_to_small_files)
{
	fixture.memory.table_count = 7;
	struct tables *tables = fixture_new_tables();
	struct files files = find_files(tables);

	/* One descriptor for all of the large file. */
	ck_assert_uint_ne(files.large_id, 0);
	ck_assert_uint_eq(tables->items[files.large_id].executable->pieces.count, 1);
	end(tables, &files);
}
END_TEST

/* Stops all child processes of this one, so that they no longer answer. */
static void stop_readers(void)
{
	glob_t found;

	ck_assert_int_eq(glob("/proc/self/task/*/children", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *children = fopen(found.gl_pathv[i], "r");
		int pid;

		while (children && fscanf(children, "%d", &pid) == 1)
			ck_assert_int_eq(kill(pid, SIGSTOP), 0);
		if (children)
			fclose(children);
	}
	globfree(&found);
}

/* When no answer comes in time, the file is left to the builder that follows code, and the other
 * builders go on. */
START_TEST(what_takes_long_is_built_aside)
{
	enum { MANY = 16 };
	struct tables *tables = fixture_new_tables();
	struct object *files[MANY];
	uint32_t late = 0;

	for (int i = 0; i < MANY; i++) {
		files[i] = fixture_open_file(1);
		ck_assert_uint_ne(tables_take(tables, files[i], 0), 0);
		if (!i) {
			fixture_look(tables, 1);
			stop_readers();
		}
	}
	for (uint32_t i = 0; i < MAX_BUILDERS; i++)
		reader_hurry(tables->builders[i].asker.reader, 1);
	for (uint32_t epoch = 2; epoch < 2 + 4 * MANY; epoch++)
		fixture_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, MANY);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_failed, 0);
	for (uint32_t id = 1; id <= MANY; id++)
		late += tables->items[id].late;
	ck_assert_uint_gt(late, 0);
	for (int i = 0; i < MANY; i++)
		object_unref(files[i]);
	fixture_end_tables(tables);
}
END_TEST

/* The order holds however often the table is missed. */
START_TEST(who_took_long_is_last)
{
	struct tables *tables = fixture_new_tables();
	struct object *files[] = {fixture_open_file(1), fixture_open_file(1)};
	uint32_t ids[] = {tables_take(tables, files[0], 1000), tables_take(tables, files[1], 1001)};

	tables->items[ids[0]].wanted = 100;
	tables->items[ids[1]].wanted = 1;
	tables->epoch = 2;
	ck_assert_uint_eq(tables_pick(tables, false), ids[0]);
	turns_note(&tables->turns, LANE_USER(1000), NSEC_PER_SEC);
	ck_assert_uint_eq(tables_pick(tables, false), ids[1]);
	turns_note(&tables->turns, LANE_USER(1001), 2 * NSEC_PER_SEC);
	ck_assert_uint_eq(tables_pick(tables, false), ids[0]);
	for (int i = 0; i < 2; i++)
		object_unref(files[i]);
	fixture_end_tables(tables);
}
END_TEST

Suite *tables_order_suite(void)
{
	Suite *suite = suite_create("tables_order");
	TCase *tcase = tcase_create("tables_order");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, fixture_set_up, fixture_tear_down);
	tcase_add_test(tcase, order);
	tcase_add_test(tcase, large_files_by_need);
	tcase_add_test(tcase, others_of_a_file_that_is_missed_again_and_again);
	tcase_add_test(tcase, two_at_once);
	tcase_add_test(tcase, what_nobody_maps_is_given_back);
	tcase_add_test(tcase, few_descriptors_are_left_to_small_files);
	tcase_add_test(tcase, what_takes_long_is_built_aside);
	tcase_add_test(tcase, who_took_long_is_last);
	suite_add_tcase(suite, tcase);
	return suite;
}
