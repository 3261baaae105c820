/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which executable files have a table when not all tables fit, and when the words of a table are
 * used again.
 */
#include "unwind/tables.h"

#include "tests/unit/suites.h"
#include "tests/unit/unwind_fixture.h"
#include "unwind/chunks.h"
#include "unwind/pieces.h"
#include "unwind/table.h"

#include <stdlib.h>
#include <string.h>

/* The executable files in one piece that this process maps, and the sizes of their tables, which
 * together exceed a chunk. */
struct shelf {
	struct object *objects[TABLES];
	uint32_t ids[TABLES];
	size_t words[TABLES], count;
};

static void fill_shelf(struct shelf *shelf)
{
	const struct mapping_set *set = fixture_own_mappings();

	*shelf = (struct shelf){0};
	for (size_t i = 0; i < mapping_set_count(set); i++) {
		struct object *object = store_get(fixture.store, mapping_set_at(set, i)->object);
		struct table *table = NULL;
		bool known = !object || pieces_of(object->elf).count > 1;

		for (size_t j = 0; !known && j < shelf->count; j++)
			known = shelf->objects[j] == object;
		if (known || table_build(object->elf, false, CHUNK_ROOM, &table)) {
			object_unref(object);
			continue;
		}
		shelf->objects[shelf->count] = object;
		shelf->words[shelf->count++] = table->word_count;
		table_free(table);
	}
	ck_assert_uint_ge(shelf->count, 3);
	fixture.memory.chunk_count = 1;
}

static void empty_shelf(struct shelf *shelf, struct tables *tables)
{
	for (size_t i = 0; i < shelf->count; i++)
		object_unref(shelf->objects[i]);
	fixture_end_tables(tables);
}

static void look(struct tables *tables, uint32_t at_epoch)
{
	tables_look(tables, at_epoch);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	if (tables_retired(tables))
		tables_reclaim(tables);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
}

/* Builds as many tables as there is room for, each when there is nothing else to do. */
static uint32_t fill(struct tables *tables, uint32_t from_epoch)
{
	for (int i = 0; i < 40; i++)
		look(tables, from_epoch++);
	return from_epoch;
}

static size_t largest(const struct shelf *shelf)
{
	size_t most = 0;

	for (size_t i = 0; i < shelf->count; i++)
		most = shelf->words[i] > most ? shelf->words[i] : most;
	return most;
}

START_TEST(tables_make_way)
{
	struct shelf shelf;
	uint32_t at = 2;

	fill_shelf(&shelf);
	struct tables *tables = fixture_new_tables();
	for (size_t i = 0; i < shelf.count; i++)
		shelf.ids[i] = tables_take(tables, shelf.objects[i], 0);
	/* No table is missed, so none is replaced. */
	at = fill(tables, at);
	struct unwinder_stats first = {0};
	tables_get_stats(tables, &first);
	ck_assert_uint_gt(first.tables, 0);
	ck_assert_uint_gt(first.tables_pending, 0);
	ck_assert_uint_eq(first.tables_evicted, 0);

	/* Each table in turn is missed, and gets room. */
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < shelf.count; i++) {
			struct unwind_table *shared = &fixture.memory.tables[shelf.ids[i]];

			if (shared->base)
				continue;
			for (int tries = 0; tries < 8 && !shared->base; tries++) {
				shared->missed += 5;
				at += 20;
				look(tables, at);
			}
			ck_assert_uint_ne(shared->base, 0);
			ck_assert_uint_eq(shared->missed, 0);
			ck_assert_uint_eq(shared->used, at);
		}
	}
	struct unwinder_stats last = {0};
	tables_get_stats(tables, &last);
	ck_assert_uint_gt(last.tables_evicted, shelf.count);
	ck_assert_uint_le(last.table_bytes, last.table_bytes_max);
	ck_assert_uint_eq(last.tables_failed, 0);
	ck_assert_uint_gt(last.tables_pending, 0);
	/* Tables of files that are no longer mapped are not waited for. */
	for (size_t i = 0; i < shelf.count; i++) {
		tables_give(tables, shelf.ids[i]);
		shelf.ids[i] = 0;
	}
	struct unwinder_stats unused = {0};
	tables_get_stats(tables, &unused);
	ck_assert_uint_eq(unused.tables_pending, 0);
	empty_shelf(&shelf, tables);
}
END_TEST

START_TEST(tables_in_use_stay)
{
	struct shelf shelf;
	uint32_t at = 10;

	fill_shelf(&shelf);
	struct tables *tables = fixture_new_tables();
	for (size_t i = 0; i < shelf.count; i++)
		shelf.ids[i] = tables_take(tables, shelf.objects[i], 0);
	at = fill(tables, at);
	for (; at < 150; at++) {
		for (size_t i = 0; i < shelf.count; i++) {
			struct unwind_table *shared = &fixture.memory.tables[shelf.ids[i]];

			if (shared->base)
				shared->used = at;
			else
				shared->missed++;
		}
		look(tables, at);
	}
	struct unwinder_stats now = {0};
	tables_get_stats(tables, &now);
	ck_assert_uint_eq(now.tables_evicted, 0);
	empty_shelf(&shelf, tables);
}
END_TEST

START_TEST(evicted_words_wait_for_walkers)
{
	struct shelf shelf;
	size_t i, wanted;

	fill_shelf(&shelf);
	struct tables *tables = fixture_new_tables();
	/* All that fit are built first, then the largest, which needs their words. */
	for (wanted = 0; shelf.words[wanted] != largest(&shelf); wanted++)
		;
	for (i = 0; i < shelf.count; i++)
		shelf.ids[i] = i == wanted ? 0 : tables_take(tables, shelf.objects[i], 0);
	fill(tables, 10);
	shelf.ids[wanted] = tables_take(tables, shelf.objects[wanted], 0);
	uint32_t *copy = malloc(CHUNK_WORDS * sizeof(*copy));
	memcpy(copy, fixture.chunks[0], CHUNK_WORDS * sizeof(*copy));
	fixture.memory.tables[shelf.ids[wanted]].missed = 1;
	fixture.is_quiet = false;
	tables_look(tables, 100);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	for (uint32_t epochs = 101; epochs < 105; epochs++)
		tables_look(tables, epochs);
	/* Unpublished, but not overwritten. */
	ck_assert(tables_retired(tables));
	ck_assert_mem_eq(copy, fixture.chunks[0], CHUNK_WORDS * sizeof(*copy));
	ck_assert_uint_eq(fixture.memory.tables[shelf.ids[wanted]].base, 0);
	fixture.is_quiet = true;
	while (tables_retired(tables))
		tables_reclaim(tables);
	ck_assert_uint_ne(fixture.memory.tables[shelf.ids[wanted]].base, 0);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	free(copy);
	empty_shelf(&shelf, tables);
}
END_TEST

START_TEST(unmapped_tables_go_first)
{
	struct shelf shelf;
	size_t i, wanted;

	fill_shelf(&shelf);
	fixture.memory.table_count = 3;
	struct tables *tables = fixture_new_tables();
	shelf.ids[0] = tables_take(tables, shelf.objects[0], 0);
	shelf.ids[1] = tables_take(tables, shelf.objects[1], 1);
	ck_assert_uint_eq(tables_take(tables, shelf.objects[0], 0), shelf.ids[0]);
	look(tables, 2);
	look(tables, 2);
	ck_assert_uint_eq(tables_take(tables, shelf.objects[2], 0), 0);
	tables_give(tables, shelf.ids[0]);
	ck_assert_uint_eq(tables_take(tables, shelf.objects[2], 0), 0); /* one mapping is left */
	tables_give(tables, shelf.ids[0]);
	ck_assert_uint_ne(fixture.memory.tables[shelf.ids[0]].base,
	                  0); /* kept for the next process */
	wanted = 2;
	shelf.ids[wanted] = tables_take(tables, shelf.objects[wanted], 0);
	ck_assert_uint_eq(shelf.ids[wanted], shelf.ids[0]);
	ck_assert_uint_eq(fixture.memory.tables[shelf.ids[0]].base, 0);
	look(tables, 3);
	ck_assert_uint_ne(fixture.memory.tables[shelf.ids[wanted]].base, 0);
	for (i = 0; i < 2; i++)
		tables_give(tables, shelf.ids[i + 1]);
	tables_give(tables, 0);
	empty_shelf(&shelf, tables);
}
END_TEST

Suite *tables_suite(void)
{
	Suite *suite = suite_create("tables");
	TCase *tcase = tcase_create("tables");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, fixture_set_up, fixture_tear_down);
	tcase_add_test(tcase, tables_make_way);
	tcase_add_test(tcase, tables_in_use_stay);
	tcase_add_test(tcase, evicted_words_wait_for_walkers);
	tcase_add_test(tcase, unmapped_tables_go_first);
	suite_add_tcase(suite, tcase);
	return suite;
}
