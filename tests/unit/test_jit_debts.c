/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much is read of what users' programs tell of their code.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "jit/jit_debts.h"

static struct jit_debts debts;

static void start(void)
{
	debts = (struct jit_debts){0};
	jit_debts_pay(&debts, NSEC_PER_SEC);
}

static void stop(void)
{
	jit_debts_clear(&debts);
}

START_TEST(a_user_is_read_until_the_debt_is_exceeded)
{
	jit_debts_add(&debts, 1, JIT_DEBT_BYTES - 1);
	ck_assert(!jit_debts_exceeded(&debts, 1));
	jit_debts_add(&debts, 1, 1);
	ck_assert(jit_debts_exceeded(&debts, 1));
	ck_assert(!jit_debts_exceeded(&debts, 2));
}
END_TEST

START_TEST(debts_are_paid_as_time_goes_by)
{
	jit_debts_add(&debts, 1, JIT_DEBT_BYTES + 3 * JIT_PACE_BYTES);
	jit_debts_add(&debts, 2, JIT_DEBT_BYTES);
	jit_debts_pay(&debts, 3 * NSEC_PER_SEC + NSEC_PER_SEC / 2);
	ck_assert(jit_debts_exceeded(&debts, 1));
	ck_assert(!jit_debts_exceeded(&debts, 2));
	jit_debts_pay(&debts, 5 * NSEC_PER_SEC);
	ck_assert(!jit_debts_exceeded(&debts, 1));
	jit_debts_pay(&debts, 100 * NSEC_PER_SEC);
	ck_assert_ptr_null(debts.by_owner);
}
END_TEST

Suite *jit_debts_suite(void)
{
	Suite *suite = suite_create("jit_debts");
	TCase *tcase = tcase_create("debts");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, a_user_is_read_until_the_debt_is_exceeded);
	tcase_add_test(tcase, debts_are_paid_as_time_goes_by);
	suite_add_tcase(suite, tcase);
	return suite;
}
