/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The shares of one process and of one user in the walker's memory.
 */
#include "unwind/runs.h"
#include "unwind/tables_private.h"

#include "tests/unit/suites.h"
#include "tests/unit/unwind_fixture.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	A_USER = 100, /* pids of each user */
	PAGE = 0x1000,
};

static int asked;

static uint32_t user_of(uint32_t pid)
{
	asked++;
	return (pid - PID) / A_USER;
}

static void set_up(void)
{
	fixture_set_up();
	fixture.memory.owner = user_of;
	asked = 0;
}

static uint32_t pid_of(uint32_t user, uint32_t which)
{
	return PID + user * A_USER + which;
}

static void map(uint32_t pid, size_t count)
{
	procs_exec(fixture.procs, pid, "program", 1);
	for (size_t i = 0; i < count; i++)
		procs_mmap(fixture.procs, pid, PAGE * (2 * i + 1), PAGE * (2 * i + 2), 0, &no_file,
		           "");
}

static uint32_t known(uint32_t pid)
{
	return fixture_slot_of(pid) & SLOT_COUNT_MAX;
}

START_TEST(a_process_has_only_so_many)
{
	enum { MORE = 100 };

	free(fixture.memory.mappings);
	fixture.memory.mapping_count = (size_t)4 * MAX_RUN_MAPPINGS;
	fixture.memory.mappings =
		calloc(fixture.memory.mapping_count, sizeof(*fixture.memory.mappings));
	map(PID, MAX_RUN_MAPPINGS + MORE);
	fixture_start();
	fixture_sync_now();
	ck_assert_uint_eq(known(PID), MAX_RUN_MAPPINGS);
	ck_assert_uint_eq(fixture_stats().mappings, MAX_RUN_MAPPINGS);
	ck_assert_uint_eq(fixture_stats().mappings_cut, MORE);
	/* The mappings at lower addresses are there. */
	ck_assert_ptr_nonnull(fixture_find_mapping(PID, PAGE));
	ck_assert_ptr_null(fixture_find_mapping(PID, PAGE * (2 * MAX_RUN_MAPPINGS + 1)));
}
END_TEST

START_TEST(users_have_shares_of_mappings)
{
	enum { LARGE = 256, MANY = MAPPINGS / LARGE };

	fixture_start();
	for (uint32_t i = 0; i < MANY; i++)
		map(pid_of(0, i), LARGE);
	fixture_sync_now();
	ck_assert_uint_eq(fixture_stats().mappings, MAPPINGS / 2);
	ck_assert_uint_eq(fixture_stats().processes_refused, MANY / 2);
	/* The next user gets half of what is left, and so on. */
	map(pid_of(1, 0), LARGE);
	map(pid_of(2, 0), LARGE);
	map(pid_of(3, 0), 1);
	fixture_sync_now();
	ck_assert_uint_eq(known(pid_of(1, 0)), LARGE);
	ck_assert_uint_eq(known(pid_of(2, 0)), LARGE);
	ck_assert_uint_eq(known(pid_of(3, 0)), 1);
	/* A user's share is free again when processes end. */
	for (uint32_t i = 0; i < MANY; i++)
		procs_exit(fixture.procs, pid_of(0, i), pid_of(0, i), 2);
	fixture_sync_now();
	map(pid_of(0, MANY), 4 * LARGE);
	fixture_sync_now();
	ck_assert_uint_eq(known(pid_of(0, MANY)), 4 * LARGE);
}
END_TEST

START_TEST(owners_of_small_ones_are_not_asked_for)
{
	enum { SMALL = 32, QUARTER = MAPPINGS / 4 / SMALL };

	fixture_start();
	for (uint32_t i = 0; i <= QUARTER; i++)
		map(pid_of(0, i), SMALL);
	fixture_sync_now();
	ck_assert_int_eq(asked, 0);
	/* When less is left, owners are looked up: once for each program. */
	map(pid_of(0, QUARTER + 1), SMALL);
	fixture_sync_now();
	ck_assert_int_eq(asked, 1);
	for (uint64_t at = PAGE * 1024; at < PAGE * 1034; at += PAGE) {
		procs_mmap(fixture.procs, pid_of(0, QUARTER + 1), at, at + 1, 0, &no_file, "");
		fixture_sync_now();
	}
	ck_assert_int_eq(asked, 1);
	ck_assert_uint_eq(fixture_stats().processes_refused, 0);
}
END_TEST

static size_t known_of(uint32_t user)
{
	size_t count = 0;

	for (uint32_t i = 0; i < A_USER; i++)
		count += known(pid_of(user, i)) != 0;
	return count;
}

/* The table has only one bucket. */
START_TEST(a_bucket_is_shared)
{
	enum { MANY = 3 * SLOTS_PER_BUCKET };

	fixture.memory.slot_count = SLOTS_PER_BUCKET;
	fixture_start();
	for (uint32_t i = 0; i < MANY; i++)
		map(pid_of(0, i), 1);
	fixture_sync_now();
	ck_assert_uint_eq(known_of(0), SLOTS_PER_BUCKET);
	map(pid_of(1, 0), 1);
	fixture_sync_now();
	ck_assert_uint_eq(known_of(1), 1);
	ck_assert_uint_eq(known_of(0), SLOTS_PER_BUCKET - 1);
	/* Both users get equal numbers, and it stays so. */
	for (uint32_t i = 1; i < MANY; i++)
		map(pid_of(1, i), 1);
	for (int i = 0; i < 3; i++) {
		unwinder_look(fixture.unwinder);
		fixture_sync_now();
		ck_assert_uint_eq(known_of(0), SLOTS_PER_BUCKET / 2);
		ck_assert_uint_eq(known_of(1), SLOTS_PER_BUCKET / 2);
	}
	for (uint32_t user = 2; user < SLOTS_PER_BUCKET; user++)
		map(pid_of(user, 0), 1);
	fixture_sync_now();
	for (uint32_t user = 0; user < SLOTS_PER_BUCKET; user++)
		ck_assert_uint_eq(known_of(user), 1);
	ck_assert_uint_eq(fixture_stats().processes, SLOTS_PER_BUCKET);
}
END_TEST

/* A process that was removed for another user's comes back when there is room. */
START_TEST(who_made_way_comes_back)
{
	fixture.memory.slot_count = SLOTS_PER_BUCKET;
	fixture_start();
	for (uint32_t i = 0; i < SLOTS_PER_BUCKET; i++)
		map(pid_of(0, i), 1);
	map(pid_of(1, 0), 1);
	fixture_sync_now();
	procs_exit(fixture.procs, pid_of(1, 0), pid_of(1, 0), 2);
	for (int i = 0; i < 40 && known_of(0) < SLOTS_PER_BUCKET; i++) {
		usleep(20 * 1000);
		fixture_sync_now();
	}
	ck_assert_uint_eq(known_of(0), SLOTS_PER_BUCKET);
}
END_TEST

/* A process whose user may have no more mappings removes no other process. */
START_TEST(nobody_makes_way_in_vain)
{
	fixture.memory.slot_count = SLOTS_PER_BUCKET;
	fixture_start();
	for (uint32_t i = 0; i < SLOTS_PER_BUCKET; i++)
		map(pid_of(0, i), 1);
	fixture_sync_now();
	map(pid_of(1, 0), MAPPINGS);
	fixture_sync_now();
	ck_assert_uint_eq(known_of(0), SLOTS_PER_BUCKET);
	ck_assert_uint_eq(known_of(1), 0);
	ck_assert_uint_eq(fixture_stats().processes_refused, 1);
}
END_TEST

START_TEST(users_have_shares_of_descriptors)
{
	enum { MANY = 64 };

	fixture.memory.table_count = MANY;
	struct tables *tables = fixture_new_tables();
	struct object *files[MANY];
	uint32_t ids[MANY], taken = 0;

	for (int i = 0; i < MANY; i++) {
		files[i] = fixture_open_file(1);
		ids[i] = tables_take(tables, files[i], 1);
		taken += ids[i] != 0;
	}
	ck_assert_uint_eq(taken, MANY / 2);
	ck_assert_uint_ne(tables_take(tables, files[MANY - 1], 2), 0);
	/* An executable that is already mapped is available to every user. */
	ck_assert_uint_eq(tables_take(tables, files[0], 3), ids[0]);
	tables_give(tables, ids[0]);
	ck_assert_uint_eq(tables_take(tables, files[MANY - 2], 1), 0);
	/* A file that is not mapped belongs to no user, and the share that it took is free. */
	for (int i = 0; i < MANY; i++)
		tables_give(tables, ids[i]);
	ck_assert_uint_ne(tables_take(tables, files[MANY - 2], 1), 0);
	ck_assert_uint_eq(tables_take(tables, files[0], 2), ids[0]);
	ck_assert_uint_eq(tables->shares.taken, 3);
	for (int i = 0; i < MANY; i++)
		object_unref(files[i]);
	fixture_end_tables(tables);
}
END_TEST

Suite *unwind_shares_suite(void)
{
	Suite *suite = suite_create("unwind_shares");
	TCase *tcase = tcase_create("unwind_shares");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, fixture_tear_down);
	tcase_add_test(tcase, a_process_has_only_so_many);
	tcase_add_test(tcase, users_have_shares_of_mappings);
	tcase_add_test(tcase, owners_of_small_ones_are_not_asked_for);
	tcase_add_test(tcase, a_bucket_is_shared);
	tcase_add_test(tcase, who_made_way_comes_back);
	tcase_add_test(tcase, nobody_makes_way_in_vain);
	tcase_add_test(tcase, users_have_shares_of_descriptors);
	suite_add_tcase(suite, tcase);
	return suite;
}
