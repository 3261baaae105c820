/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct budget: what each user may use in an hour does not depend on what others have used.
 */
#include "base/clock.h"
#include "fetch/budget.h"
#include "tests/unit/suites.h"

enum { ROOT = 0, ALICE = 1000, BOB = 1001 };

static const uint64_t hour_ns = 3600 * NSEC_PER_SEC;

static struct budget small(void)
{
	return (struct budget){.questions = 3, .bytes = 1000, .root_questions = 5};
}

START_TEST(questions)
{
	struct budget budget = small();

	for (int i = 0; i < 3; i++)
		ck_assert(budget_ask(&budget, ALICE, 1));
	ck_assert(!budget_ask(&budget, ALICE, 1));
	ck_assert(budget_ask(&budget, BOB, 1));
	for (int i = 0; i < 5; i++)
		ck_assert(budget_ask(&budget, ROOT, 1));
	ck_assert(!budget_ask(&budget, ROOT, 1));
	/* An hour after the first question. */
	ck_assert(!budget_ask(&budget, ALICE, hour_ns));
	ck_assert(budget_ask(&budget, ALICE, hour_ns + 1));
	budget_release(&budget);
}
END_TEST

START_TEST(bytes)
{
	struct budget budget = small();

	ck_assert(budget_ask(&budget, ALICE, 1));
	ck_assert_uint_eq(budget_bytes(&budget, ALICE, 1), 1000);
	budget_charge(&budget, ALICE, 400, 2);
	ck_assert_uint_eq(budget_bytes(&budget, ALICE, 2), 600);
	ck_assert(budget_ask(&budget, ALICE, 2));
	budget_charge(&budget, ALICE, 601, 3);
	ck_assert_uint_eq(budget_bytes(&budget, ALICE, 3), 0);
	ck_assert(!budget_ask(&budget, ALICE, 3));
	ck_assert_uint_eq(budget_bytes(&budget, BOB, 3), 1000);
	ck_assert(budget_ask(&budget, BOB, 3));
	budget_charge(&budget, ALICE, UINT64_MAX, 4);
	ck_assert_uint_eq(budget_bytes(&budget, ALICE, 4), 0);
	ck_assert_uint_eq(budget_bytes(&budget, ALICE, hour_ns + 1), 1000);
	budget_charge(&budget, ROOT, 5000, 4);
	ck_assert(budget_ask(&budget, ROOT, 4));
	budget_release(&budget);
}
END_TEST

/* Bytes that arrive after the hour of their question count for the next hour. */
START_TEST(late)
{
	struct budget budget = small();

	ck_assert(budget_ask(&budget, ALICE, 1));
	budget_charge(&budget, ALICE, 900, hour_ns + 1);
	ck_assert_uint_eq(budget_bytes(&budget, ALICE, hour_ns + 2), 100);
	budget_release(&budget);
}
END_TEST

START_TEST(many_users)
{
	struct budget budget = small();

	for (uint32_t user = 1; user <= 2 * MAX_BUDGET_OWNERS; user++)
		ck_assert(budget_ask(&budget, user, user));
	budget_charge(&budget, 2 * MAX_BUDGET_OWNERS, 1000, 3 * MAX_BUDGET_OWNERS);
	ck_assert(!budget_ask(&budget, 2 * MAX_BUDGET_OWNERS, 3 * MAX_BUDGET_OWNERS));
	budget_release(&budget);
}
END_TEST

Suite *fetch_budget_suite(void)
{
	Suite *suite = suite_create("fetch_budget");
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, questions);
	tcase_add_test(tcase, bytes);
	tcase_add_test(tcase, late);
	tcase_add_test(tcase, many_users);
	suite_add_tcase(suite, tcase);
	return suite;
}
