/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unwinder as a whole: this process can be walked with the published data, and the unwinder
 * copes with many changes, with little memory and with being stopped.
 */
#include "unwind/unwinder.h"

#include "base/clock.h"
#include "tests/unit/suites.h"
#include "tests/unit/unwind_fixture.h"
#include "unwind/op.h"
#include "unwind/table.h"

#include <stdlib.h>
#include <unistd.h>

enum { STORM = 100000 };

/* Looks up one address in the shared memory, as a walk does. */
static uint32_t look_up(uint32_t pid, uint64_t address)
{
	const struct unwind_mapping *mapping = fixture_find_mapping(pid, address);

	ck_assert_ptr_nonnull(mapping);
	uint32_t number = fixture_number(mapping, address);
	/* The walker reports a missing table in this way. */
	if (!fixture.memory.tables[number].base) {
		fixture.memory.tables[number].missed++;
		fixture_build_all();
	}
	return fixture_find_op(number, address - mapping->bias);
}

START_TEST(this_process_can_be_walked)
{
	fixture_own_mappings();
	fixture_start();
	fixture_build_all();
	/* The first byte of a function, in the program and in a library. */
	uint32_t op = look_up((uint32_t)getpid(), (uint64_t)(uintptr_t)table_find);
	if (op >> OP_BASE_SHIFT != OP_NAMED)
		ck_assert_uint_eq(op >> OP_BASE_SHIFT, OP_SP);
	ck_assert_uint_eq(look_up((uint32_t)getpid(), (uint64_t)(uintptr_t)uv_run), op);

	struct unwinder_stats now = fixture_stats();
	ck_assert_uint_gt(now.tables, 3);
	ck_assert_uint_eq(now.tables_pending, 0);
	ck_assert_uint_eq(now.tables_built, now.tables);
	ck_assert_uint_eq(now.tables_failed, 0);
	ck_assert_uint_eq(now.processes, 1);
	ck_assert_uint_gt(now.rows, 10000);
	ck_assert_uint_gt(now.table_bytes, 4 * now.rows);
	ck_assert_uint_lt(now.table_bytes, now.table_bytes_max);
	ck_assert_uint_gt(now.build_seconds, 0);
	ck_assert_uint_eq(now.processes_refused, 0);
	ck_assert_int_eq(fixture.asked, 0); /* nothing was replaced */
}
END_TEST

START_TEST(storm_of_forks)
{
	const struct mapping_set *set = fixture_own_mappings();
	uint64_t spent = 0, most = 0;

	fixture_start();
	fixture_build_all();
	for (uint32_t i = 0; i < STORM; i++) {
		procs_fork(fixture.procs, (uint32_t)getpid(), PID + i % 90000, i);
		if (i >= 300)
			procs_exit(fixture.procs, PID + (i - 300) % 90000, PID + (i - 300) % 90000,
			           i);
		if (i % 50)
			continue;
		uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		fixture_sync_now();
		uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
		spent += took;
		most = took > most ? took : most;
		if (i % 5000 == 0)
			procs_expire(fixture.procs, i);
		ck_assert_uint_eq(fixture_stats().mappings, mapping_set_count(set));
		ck_assert_uint_le(fixture_stats().processes, 402);
	}
	ck_assert_uint_eq(fixture_stats().processes_refused, 0);
	ck_assert_uint_eq(fixture_first_of(fixture_slot_of(PID + (STORM - 100) % 90000)),
	                  fixture_first_of(fixture_slot_of((uint32_t)getpid())));
	/* 20 seconds of 5,000 forks and exits a second, in less than 5 % of a core. */
	ck_assert_msg(spent < NSEC_PER_SEC, "%lu ms", (unsigned long)(spent / NSEC_PER_MSEC));
	if (getenv("UNWINDER_TIMES"))
		printf("storm: %lu ns a fork and exit, longest call %lu us\n",
		       (unsigned long)(spent / STORM), (unsigned long)(most / 1000));
}
END_TEST

START_TEST(more_changes_than_are_noted)
{
	procs_exec(fixture.procs, PID, "parent", 1);
	procs_mmap(fixture.procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	fixture.memory.slot_count = SLOTS / 2;
	fixture_start();
	fixture_sync_now();
	for (uint32_t i = 1; i < 20000; i++) {
		procs_fork(fixture.procs, PID, PID + i, 2);
		procs_exit(fixture.procs, PID + i, PID + i, 3);
	}
	for (uint32_t i = 1; i <= 100; i++)
		procs_fork(fixture.procs, PID, PID + i, 4);
	procs_mmap(fixture.procs, PID, 0x8000, 0x9000, 0, &no_file, "");
	procs_fork(fixture.procs, PID, PID + 20001, 5);
	fixture_sync_now();
	ck_assert_uint_eq(fixture_stats().processes, 102);
	ck_assert_ptr_nonnull(fixture_find_mapping(PID + 20001, 0x8000));
	ck_assert_ptr_nonnull(fixture_find_mapping(PID + 77, 0x1000));
}
END_TEST

START_TEST(no_memory_at_all)
{
	fixture.memory.slot_count = fixture.memory.mapping_count = fixture.memory.table_count =
		fixture.memory.chunk_count = 0;
	fixture_own_mappings();
	fixture_start();
	fixture_build_all();
	fixture_build_all();
	ck_assert_uint_eq(fixture_stats().processes, 0);
	ck_assert_uint_eq(fixture_stats().tables, 0);
}
END_TEST

START_TEST(few_descriptors)
{
	fixture.memory.table_count = 3;
	fixture_own_mappings();
	fixture_start();
	fixture_build_all();
	ck_assert_uint_le(fixture_stats().tables + fixture_stats().tables_without, 2);
	ck_assert_uint_gt(fixture_stats().processes_refused, 0);
	ck_assert_uint_eq(fixture_stats().processes, 1);
}
END_TEST

START_TEST(objects_that_left_the_store)
{
	struct store *small = store_new(2);
	struct procs *others = procs_new(small);

	procs_image(others, (uint32_t)getpid(), clock_mono_ns());
	fixture.unwinder = unwinder_new(&fixture.loop, others, small, &fixture.memory);
	fixture_build_all();
	ck_assert_uint_le(fixture_stats().tables, 2);
	ck_assert_uint_eq(fixture_stats().processes, 1);
	unwinder_stop(fixture.unwinder);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	unwinder_free(fixture.unwinder);
	fixture.unwinder = NULL;
	procs_free(others);
	store_free(small);
}
END_TEST

START_TEST(stopped_while_building)
{
	fixture_own_mappings();
	fixture_start();
	fixture_sync_now();
	ck_assert(uv_loop_alive(&fixture.loop));
	ck_assert_uint_gt(fixture_stats().tables_pending, 0);
	unwinder_stop(fixture.unwinder);
	unwinder_stop(fixture.unwinder);
	fixture_sync_now();
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(fixture_stats().tables, 0);
	ck_assert_uint_eq(fixture_stats().tables_built, 0);
	/* There is no listener any more. */
	uint64_t processes = fixture_stats().processes;
	procs_fork(fixture.procs, (uint32_t)getpid(), PID, 1);
	fixture_sync_now();
	ck_assert_uint_eq(fixture_stats().processes, processes);
}
END_TEST

START_TEST(never_started)
{
	fixture_start();
	unwinder_free(fixture.unwinder);
	fixture.unwinder = NULL;
	unwinder_free(NULL);
}
END_TEST

Suite *unwinder_suite(void)
{
	Suite *suite = suite_create("unwinder");
	TCase *tcase = tcase_create("unwinder");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, fixture_set_up, fixture_tear_down);
	tcase_add_test(tcase, this_process_can_be_walked);
	tcase_add_test(tcase, storm_of_forks);
	tcase_add_test(tcase, more_changes_than_are_noted);
	tcase_add_test(tcase, no_memory_at_all);
	tcase_add_test(tcase, few_descriptors);
	tcase_add_test(tcase, objects_that_left_the_store);
	tcase_add_test(tcase, stopped_while_building);
	tcase_add_test(tcase, never_started);
	suite_add_tcase(suite, tcase);
	return suite;
}
