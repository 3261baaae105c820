/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Too little room: in a chunk, for descriptors, and of tables that may be replaced.
 */
#include "unwind/tables_private.h"

#include "tests/unit/suites.h"
#include "tests/unit/unwind_fixture.h"

/* Two tables are built at the same time, and both need the place of another one. */
START_TEST(one_exchange_a_second)
{
	fixture.memory.chunk_count = 1;
	struct tables *tables = fixture_new_tables();
	struct object *files[4];
	uint32_t ids[4], epoch = 2;

	tables->builder_count = 2;
	for (int i = 0; i < 4; i++)
		files[i] = fixture_open_file(1);
	for (int i = 0; i < 2; i++)
		ids[i] = tables_take(tables, files[i], 0);
	for (; epoch < 10; epoch++)
		fixture_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 2);
	ck_assert_uint_ne(chunks_take(tables->chunks, chunks_room(tables->chunks)), 0);
	ck_assert_uint_eq(chunks_room(tables->chunks), 0);
	for (int i = 2; i < 4; i++) {
		ids[i] = tables_take(tables, files[i], 0);
		fixture.memory.tables[ids[i]].missed = 1;
	}
	epoch = 20;
	tables_look(tables, epoch);
	ck_assert_uint_ne(tables->builders[1].id, 0);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	tables_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_evicted, 1);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 2);
	/* The second table has waited. */
	tables_look(tables, epoch + 1);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_evicted, 2);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(fixture.memory.tables[ids[i]].base != 0, i >= 2);
		object_unref(files[i]);
	}
	fixture_end_tables(tables);
}
END_TEST

/* Free words in several chunks do not make room for one table. */
START_TEST(room_is_in_one_chunk)
{
	enum { USED = CHUNK_ROOM / 2 + CHUNK_GRAIN };
	fixture.memory.chunk_count = 2;
	struct tables *tables = fixture_new_tables();
	struct object *file = fixture_open_file(1);
	uint32_t id = tables_take(tables, file, 0);
	struct piece *item = &tables->items[id];

	ck_assert_uint_ne(chunks_take(tables->chunks, USED), 0);
	ck_assert_uint_ne(chunks_take(tables->chunks, USED), 0);
	tables->epoch = 2;
	item->wanted = 1;
	item->measured = true;
	item->estimate = (uint32_t)chunks_room(tables->chunks) + 1;
	ck_assert_uint_le(item->estimate, chunks_free_words(tables->chunks));
	ck_assert_uint_eq(tables_possible_words(tables), chunks_room(tables->chunks));
	ck_assert_uint_eq(tables_pick(tables, false), 0);
	item->estimate--;
	ck_assert_uint_eq(tables_pick(tables, false), id);
	object_unref(file);
	fixture_end_tables(tables);
}
END_TEST

/* The oldest descriptors are not adjacent, and more are needed than are released one at a time. */
START_TEST(a_large_file_takes_the_place_of_many)
{
	enum { MANY = 64 };
	fixture.memory.table_count = MANY + 1;
	struct tables *tables = fixture_new_tables();
	struct object *small[MANY], *large = fixture_open_file(MANY / 2);

	for (int i = 0; i < MANY; i++) {
		small[i] = fixture_open_file(1);
		ck_assert_uint_eq(tables_take(tables, small[i], (uint32_t)i), i + 1);
	}
	ck_assert_uint_eq(tables->seen, MANY + 1);
	/* All descriptors are in use. */
	ck_assert_uint_eq(tables_take(tables, large, 0), 0);
	ck_assert_uint_eq(tables->seen, MANY + 1);
	for (uint32_t i = 0; i < MANY; i++) {
		tables->epoch = i % 2 ? 2 : 1;
		tables_give(tables, i + 1);
	}
	uint32_t first = tables_take(tables, large, 0);
	ck_assert_uint_ne(first, 0);
	ck_assert_uint_eq(tables->items[first].executable->pieces.count, MANY / 2);
	for (int i = 0; i < MANY; i++)
		object_unref(small[i]);
	object_unref(large);
	fixture_end_tables(tables);
}
END_TEST

Suite *tables_room_suite(void)
{
	Suite *suite = suite_create("tables_room");
	TCase *tcase = tcase_create("tables_room");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, fixture_set_up, fixture_tear_down);
	tcase_add_test(tcase, one_exchange_a_second);
	tcase_add_test(tcase, room_is_in_one_chunk);
	tcase_add_test(tcase, a_large_file_takes_the_place_of_many);
	suite_add_tcase(suite, tcase);
	return suite;
}
