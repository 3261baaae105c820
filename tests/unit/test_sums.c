/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums of the kernel half: exact up to a bound, and then they stay above it and below 2^63.
 */
#include "bpf/sum.h"
#include "tests/unit/suites.h"

START_TEST(small_sums_are_exact)
{
	u64 sum = 0;

	ck_assert_uint_eq(sum_add(&sum, 3), 3);
	ck_assert_uint_eq(sum_add(&sum, 1ULL << 46), (1ULL << 46) + 3);
	ck_assert_uint_eq(sum, (1ULL << 46) + 3);
}
END_TEST

START_TEST(large_sums_do_not_wrap)
{
	u64 sum = 0, last = 0;

	for (u32 i = 0; i < 1 << 19; i++) {
		ck_assert_uint_ge(sum_add(&sum, 1ULL << 46), last);
		last = sum;
	}
	ck_assert_uint_ge(sum, sum_most);
	ck_assert_uint_lt(sum, 2 * sum_most);
}
END_TEST

START_TEST(no_addition_is_too_large)
{
	u64 sum = sum_most - 1;

	ck_assert_uint_eq(sum_add(&sum, UINT64_MAX), 2 * sum_most - 1);
	ck_assert_uint_eq(sum_add(&sum, UINT64_MAX), 2 * sum_most - 1);
	/* All CPUs have seen the sum below the bound, and add to it. */
	ck_assert_uint_lt(sum + MAX_CPUS * sum_most, 1ULL << 63);
}
END_TEST

Suite *sums_suite(void)
{
	Suite *suite = suite_create("sums");
	TCase *tcase = tcase_create("sums");

	tcase_add_test(tcase, small_sums_are_exact);
	tcase_add_test(tcase, large_sums_do_not_wrap);
	tcase_add_test(tcase, no_addition_is_too_large);
	suite_add_tcase(suite, tcase);
	return suite;
}
