/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pid_table: one pointer for each process, by pid.
 */
#include "tests/unit/suites.h"

#include "base/bounds.h"
#include "base/pid_table.h"

#include <errno.h>

static const uint32_t pids[] = {0, 1, 511, 512, 513, 100000, MAX_TASK_ID};

enum { PIDS = sizeof(pids) / sizeof(pids[0]) };

static struct pid_table table;
static int things[PIDS];

static void set_up(void)
{
	ck_assert_int_eq(pid_table_init(&table), 0);
	for (size_t i = 0; i < PIDS; i++)
		ck_assert_int_eq(pid_table_add(&table, pids[i], &things[i]), 0);
}

static void tear_down(void)
{
	pid_table_release(&table);
}

START_TEST(finds_what_is_there)
{
	for (size_t i = 0; i < PIDS; i++)
		ck_assert_ptr_eq(pid_table_find(&table, pids[i]), &things[i]);
	ck_assert_uint_eq(table.count, PIDS);
	ck_assert_ptr_null(pid_table_find(&table, 2));
	ck_assert_ptr_null(pid_table_find(&table, 200000));
	ck_assert_ptr_null(pid_table_find(&table, MAX_TASK_ID + 1));
	ck_assert_ptr_null(pid_table_find(&table, UINT32_MAX));
	ck_assert_int_eq(pid_table_add(&table, MAX_TASK_ID + 1, things), -ERANGE);
	ck_assert_int_eq(pid_table_add(&table, UINT32_MAX, things), -ERANGE);
}
END_TEST

START_TEST(goes_through_all_by_pid)
{
	uint32_t at = 0;

	for (size_t i = 0; i < PIDS; i++) {
		ck_assert_ptr_eq(pid_table_next(&table, &at), &things[i]);
		ck_assert_uint_eq(at, pids[i] + 1);
		/* The entry is removed during the walk, and its page with it. */
		pid_table_remove(&table, pids[i]);
	}
	ck_assert_ptr_null(pid_table_next(&table, &at));
	ck_assert_uint_eq(table.count, 0);
	at = 0;
	ck_assert_ptr_null(pid_table_next(&table, &at));
}
END_TEST

START_TEST(what_is_gone_can_come_again)
{
	pid_table_remove(&table, 512);
	ck_assert_ptr_null(pid_table_find(&table, 512));
	ck_assert_ptr_eq(pid_table_find(&table, 513), &things[4]);
	ck_assert_int_eq(pid_table_add(&table, 512, &things[0]), 0);
	ck_assert_ptr_eq(pid_table_find(&table, 512), &things[0]);
	ck_assert_uint_eq(table.count, PIDS);
}
END_TEST

Suite *pid_table_suite(void)
{
	Suite *suite = suite_create("pid_table");
	TCase *tests = tcase_create("table");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, finds_what_is_there);
	tcase_add_test(tests, goes_through_all_by_pid);
	tcase_add_test(tests, what_is_gone_can_come_again);
	suite_add_tcase(suite, tests);
	return suite;
}
