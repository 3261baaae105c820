/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums that do not wrap.
 */
#include "tests/unit/suites.h"

#include "profile/sum.h"

START_TEST(sums_do_not_wrap)
{
	uint64_t sum = 0;

	sum_add(&sum, 5);
	sum_add(&sum, 7);
	ck_assert_uint_eq(sum, 12);
	sum_add(&sum, UINT64_MAX - 12);
	ck_assert_uint_eq(sum, UINT64_MAX);
	sum_add(&sum, 0);
	ck_assert_uint_eq(sum, UINT64_MAX);
	sum_add(&sum, 1);
	ck_assert_uint_eq(sum, UINT64_MAX);
	sum_add(&sum, UINT64_MAX);
	ck_assert_uint_eq(sum, UINT64_MAX);
	sum = 13;
	sum_add(&sum, UINT64_MAX - 12);
	ck_assert_uint_eq(sum, UINT64_MAX);
}
END_TEST

Suite *sum_suite(void)
{
	Suite *suite = suite_create("sum");
	TCase *tcase = tcase_create("sum");

	tcase_add_test(tcase, sums_do_not_wrap);
	suite_add_tcase(suite, tcase);
	return suite;
}
