/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What captures of one moment share, and the bound of what answers hold.
 */
#include "capture/moment.h"

#include "profile/held.h"
#include "proc/proc.h"
#include "tests/unit/suites.h"

#include <errno.h>

enum { USER = 1000, OTHER, MANY = 100 };

START_TEST(a_user_holds_a_share)
{
	struct held first = {0}, second = {0}, other = {0}, root = {0};

	ck_assert_int_eq(held_take(&first, USER, MAX_HELD_BYTES / 2), -ENOBUFS);
	ck_assert_int_eq(held_take(&first, USER, MAX_HELD_BYTES / 3), 0);
	ck_assert_int_eq(held_take(&second, USER, MAX_HELD_BYTES / 4), -ENOBUFS);
	ck_assert_int_eq(held_take(&other, OTHER, MAX_HELD_BYTES / 4), 0);
	ck_assert_int_eq(held_take(&root, 0, MAX_HELD_BYTES / 3), 0);
	held_give(&root);
	held_give(&other);
	held_give(&first);
	held_give(&first);
	ck_assert_int_eq(held_take(&second, USER, MAX_HELD_BYTES / 3), 0);
	held_give(&second);
}
END_TEST

START_TEST(captures_of_one_moment_share)
{
	struct store *store = store_new(64);
	struct procs *procs = procs_new(store);
	struct moment *one = moment_get(1), *same = moment_get(1), *later;
	const struct kinship *known, *again;
	size_t count, more;

	for (uint32_t i = 1; i <= MANY; i++)
		procs_fork(procs, 4000 * 1000, 4000 * 1000 + i, i);
	ck_assert_int_eq(moment_kinships(one, procs, USER, &known, &count), 0);
	ck_assert_uint_eq(count, MANY);
	ck_assert_uint_eq(known[0].parent, 4000 * 1000);
	procs_fork(procs, 4000 * 1000, 4000 * 1000, MANY + 1);
	ck_assert_int_eq(moment_kinships(same, procs, OTHER, &again, &more), 0);
	ck_assert_ptr_eq(again, known);
	ck_assert_uint_eq(more, count);
	later = moment_get(2);
	ck_assert_int_eq(moment_kinships(later, procs, USER, &again, &more), 0);
	ck_assert_uint_eq(more, count + 1);
	moment_unref(one);
	moment_unref(later);
	ck_assert_uint_eq(known[count - 1].pid, 4000 * 1000 + MANY);
	moment_unref(same);
	procs_free(procs);
	store_free(store);
}
END_TEST

START_TEST(a_user_that_holds_much_gets_no_more)
{
	struct store *store = store_new(64);
	struct procs *procs = procs_new(store);
	struct moment *moment = moment_get(1);
	const struct kinship *known;
	struct held held = {0};
	size_t count;

	procs_fork(procs, 4000 * 1000, 4000 * 1000 + 1, 1);
	ck_assert_int_eq(held_take(&held, USER, (MAX_HELD_BYTES - MAX_HELD_BYTES / 8) / 2), 0);
	ck_assert_int_eq(moment_kinships(moment, procs, USER, &known, &count), -ENOBUFS);
	ck_assert_int_eq(moment_kinships(moment, procs, OTHER, &known, &count), 0);
	/* It is there now, and costs nobody more. */
	ck_assert_int_eq(moment_kinships(moment, procs, USER, &known, &count), 0);
	ck_assert_uint_eq(count, 1);
	held_give(&held);
	moment_unref(moment);
	procs_free(procs);
	store_free(store);
}
END_TEST

Suite *moment_suite(void)
{
	Suite *suite = suite_create("moment");
	TCase *tests = tcase_create("moment");

	tcase_add_test(tests, a_user_holds_a_share);
	tcase_add_test(tests, captures_of_one_moment_share);
	tcase_add_test(tests, a_user_that_holds_much_gets_no_more);
	suite_add_tcase(suite, tests);
	return suite;
}
