/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Following code on demand: a table is built again, once, when walks have met code that it does not
 * cover; and what can happen meanwhile.
 */
#include "unwind/tables_private.h"

#include "tests/unit/frame_image.h"
#include "tests/unit/rows.h"
#include "tests/unit/open_mapped.h"
#include "tests/unit/suites.h"
#include "tests/unit/unwind_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DESCRIBED = IMAGE_TEXT,
	ENTRY = IMAGE_TEXT + 0x100,
	CALLED = IMAGE_TEXT + 0x180, /* push and pop, which no unwind information describes */
	CODE_BYTES = 0x200,
};

/* An executable file with code. */
struct code_image {
	struct frame_image frames;
	uint8_t code[CODE_BYTES];
};

static void put_code(struct code_image *image)
{
	static const uint8_t calls[] = {0xe8, CALLED - ENTRY - 5, 0, 0, 0, 0xf4};
	static const uint8_t called[] = {0x50, 0x58, 0xc3};

	memset(image->code, 0xcc, sizeof(image->code));
	memcpy(image->code + (ENTRY - IMAGE_TEXT), calls, sizeof(calls));
	memcpy(image->code + (CALLED - IMAGE_TEXT), called, sizeof(called));
	image->frames.segments[0].p_offset = offsetof(struct code_image, code);
	image->frames.segments[0].p_filesz = sizeof(image->code);
}

static const struct object *open_image(struct store *store, const struct code_image *image)
{
	char path[] = "/tmp/profd-code-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	struct stat status;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, image, sizeof(*image)), sizeof(*image));
	ck_assert_int_eq(fstat(fd, &status), 0);
	const struct file_key key = {.inode = status.st_ino};
	const struct object *object = open_mapped(store, &key, 0, 0, path);
	unlink(path);
	ck_assert_ptr_nonnull(object);
	return object;
}

/* Opens a file whose first function is described, or none; with code to follow, or none. */
static const struct object *open_file(struct store *store, bool described, bool followable)
{
	struct code_image image = {0};

	frame_image_init(&image.frames);
	image.frames.header.e_entry = followable ? ENTRY : 0;
	if (described)
		put_eh_fde(&image.frames.eh, put_eh_cie(&image.frames.eh, "zR"), DESCRIBED, 0x10,
		           NULL, 0);
	frame_image_seal(&image.frames);
	put_code(&image);
	return open_image(store, &image);
}

static void check_followed(uint32_t id, bool followed)
{
	ck_assert_uint_eq(fixture_find_op(id, DESCRIBED), PLAIN(1));
	ck_assert_uint_eq(fixture_find_op(id, CALLED), followed ? PLAIN(1) : NONE);
	ck_assert_uint_eq(fixture_find_op(id, CALLED + 1), followed ? PLAIN(2) : NONE);
}

START_TEST(gaps_are_followed_once)
{
	struct tables *tables = fixture_new_tables();
	uint32_t id = tables_take(tables, open_file(fixture.store, true, true), 0);
	struct unwind_table *shared = &fixture.memory.tables[id];

	fixture_look(tables, 2);
	check_followed(id, false);
	uint32_t first = shared->base, words[64];
	memcpy(words, fixture_words(first), sizeof(words));
	/* A single gap may have been a stray address; the second one may occur much later. */
	shared->gaps++;
	fixture_look(tables, 3);
	fixture_look(tables, 4);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_built, 1);
	shared->gaps++;
	fixture.is_quiet = false;
	fixture_look(tables, 5);
	/* Unpublished, but walkers may still be reading it. */
	ck_assert_uint_eq(shared->base, 0);
	ck_assert_uint_eq(shared->why, TABLE_PENDING);
	ck_assert(tables_retired(tables));
	fixture_look(tables, 6);
	ck_assert_mem_eq(words, fixture_words(first), sizeof(words));
	ck_assert_uint_eq(shared->base, 0);
	fixture.is_quiet = true;
	tables_reclaim(tables);
	check_followed(id, true);
	ck_assert_uint_eq(shared->why, TABLE_READY);
	ck_assert(!tables_retired(tables));
	ck_assert_uint_eq(fixture_stats_of(tables).tables_built, 2);
	ck_assert_uint_eq(fixture_stats_of(tables).tables, 1);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_evicted, 0);
	/* The table is built again only once. */
	first = shared->base;
	shared->gaps = 1000;
	for (uint32_t epoch = 7; epoch < 30; epoch++)
		fixture_look(tables, epoch);
	ck_assert_uint_eq(shared->base, first);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_built, 2);
	fixture_end_tables(tables);
}
END_TEST

START_TEST(a_better_table_without_room_changes_nothing)
{
	fixture.memory.chunk_count = 1;
	struct tables *tables = fixture_new_tables();
	uint32_t id = tables_take(tables, open_file(fixture.store, true, true), 0);
	struct unwind_table *shared = &fixture.memory.tables[id];

	fixture_look(tables, 2);
	ck_assert_uint_ne(chunks_take(tables->chunks, CHUNK_ROOM - CHUNK_GRAIN), 0);
	uint32_t first = shared->base;
	shared->gaps = 2;
	for (uint32_t epoch = 3; epoch < 100; epoch++)
		fixture_look(tables, epoch);
	ck_assert_uint_eq(shared->base, first);
	ck_assert_uint_eq(shared->why, TABLE_READY);
	check_followed(id, false);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_built, 1);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_evicted, 0);
	fixture_end_tables(tables);
}
END_TEST

START_TEST(nothing_is_tried_once_more)
{
	struct tables *tables = fixture_new_tables();
	uint32_t code = tables_take(tables, open_file(fixture.store, false, true), 0);
	uint32_t data = tables_take(tables, open_file(fixture.store, false, false), 0);
	struct unwind_table *shared = fixture.memory.tables;

	/* Misses before the result was known do not count: they may have had any cause. */
	shared[code].missed = shared[data].missed = 1000;
	fixture_look(tables, 2);
	fixture_look(tables, 2);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_without, 2);
	ck_assert_uint_eq(shared[code].why, TABLE_NOTHING);
	shared[code].missed++;
	shared[data].missed++;
	fixture_look(tables, 3);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_without, 2);
	shared[code].missed++;
	shared[data].missed++;
	fixture_look(tables, 4);
	ck_assert_uint_eq(fixture_find_op(code, CALLED + 1), PLAIN(2));
	ck_assert_uint_eq(fixture_find_op(code, DESCRIBED), NONE);
	ck_assert_uint_eq(shared[code].why, TABLE_READY);
	/* There is still nothing, and the file is not tried again. */
	ck_assert_uint_eq(shared[data].base, 0);
	ck_assert_uint_eq(shared[data].why, TABLE_NOTHING);
	struct unwinder_stats then = fixture_stats_of(tables);
	ck_assert_uint_eq(then.tables, 1);
	ck_assert_uint_eq(then.tables_without, 1);
	ck_assert_uint_eq(then.tables_failed, 0);
	shared[code].gaps = shared[data].missed = 1000;
	for (uint32_t epoch = 5; epoch < 30; epoch++)
		fixture_look(tables, epoch);
	ck_assert_uint_eq(fixture_stats_of(tables).build_seconds, then.build_seconds);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_built, then.tables_built);
	fixture_end_tables(tables);
}
END_TEST

START_TEST(without_the_object)
{
	_cleanup_(store_freep) struct store *small = store_new(2);
	struct tables *tables = tables_new(&fixture.loop, small, &fixture.memory);
	uint32_t id = tables_take(tables, open_file(small, true, true), 0);
	struct unwind_table *shared = &fixture.memory.tables[id];

	fixture_look(tables, 2);
	uint32_t first = shared->base;
	open_file(small, true, true);
	shared->gaps = 2;
	for (uint32_t epoch = 3; epoch < 30; epoch++)
		fixture_look(tables, epoch);
	/* The existing table stays. */
	ck_assert_uint_eq(shared->base, first);
	check_followed(id, false);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_built, 1);
	ck_assert_uint_eq(fixture_stats_of(tables).tables_failed, 0);
	fixture_end_tables(tables);
}
END_TEST

START_TEST(the_only_descriptor)
{
	fixture.memory.table_count = 2; /* entry 0 is not used */
	struct tables *tables = fixture_new_tables();
	const struct object *first = open_file(fixture.store, true, true);
	const struct object *second = open_file(fixture.store, true, true);
	uint32_t id = tables_take(tables, first, 0);

	ck_assert_uint_eq(id, 1);
	fixture_look(tables, 2);
	fixture.memory.tables[id].gaps = 2;
	tables_look(tables, 3);
	tables_give(tables, id);
	/* The file is not mapped any more, but its table is still being built. */
	ck_assert_uint_eq(tables_take(tables, second, 0), 0);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	check_followed(id, true);
	ck_assert(!tables_retired(tables));
	/* The results of one file do not carry over to the next. */
	ck_assert_uint_eq(tables_take(tables, second, 0), id);
	ck_assert_uint_eq(fixture.memory.tables[id].base, 0);
	ck_assert_uint_eq(fixture.memory.tables[id].gaps, 0);
	fixture_look(tables, 4);
	check_followed(id, false);
	fixture.memory.tables[id].gaps = 2;
	fixture_look(tables, 5);
	tables_reclaim(tables);
	check_followed(id, true);
	fixture_end_tables(tables);
}
END_TEST

START_TEST(stopped_meanwhile)
{
	struct tables *tables = fixture_new_tables();
	uint32_t id = tables_take(tables, open_file(fixture.store, true, true), 0);

	fixture_look(tables, 2);
	fixture.memory.tables[id].gaps = 2;
	tables_look(tables, 3);
	fixture_end_tables(tables);
	check_followed(id, false);

	/* Stopped between the removal of the old table and the placement of the new one. */
	memset(fixture.memory.tables, 0, TABLES * sizeof(*fixture.memory.tables));
	fixture_drop_chunks();
	tables = fixture_new_tables();
	id = tables_take(tables, open_file(fixture.store, true, true), 0);
	fixture_look(tables, 2);
	fixture.memory.tables[id].gaps = 2;
	fixture.is_quiet = false;
	fixture_look(tables, 3);
	ck_assert_uint_eq(fixture.memory.tables[id].base, 0);
	fixture_end_tables(tables);
	ck_assert_uint_eq(fixture.memory.tables[id].base, 0);
}
END_TEST

Suite *tables_again_suite(void)
{
	Suite *suite = suite_create("tables_again");
	TCase *tcase = tcase_create("tables_again");

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, fixture_set_up, fixture_tear_down);
	tcase_add_test(tcase, gaps_are_followed_once);
	tcase_add_test(tcase, a_better_table_without_room_changes_nothing);
	tcase_add_test(tcase, nothing_is_tried_once_more);
	tcase_add_test(tcase, without_the_object);
	tcase_add_test(tcase, the_only_descriptor);
	tcase_add_test(tcase, stopped_meanwhile);
	suite_add_tcase(suite, tcase);
	return suite;
}
