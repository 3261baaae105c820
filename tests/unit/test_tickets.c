/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tickets: what happens to a file that was sampled before it was open, and how many such
 * files are remembered.
 */
#include "object/tickets.h"
#include "tests/unit/suites.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

enum { ALICE = 1000, BOB = 1001 };

static struct tickets tickets;

static void set_up(void)
{
	memset(&tickets, 0, sizeof(tickets));
}

static void tear_down(void)
{
	tickets_clear(&tickets);
}

static uint32_t id_of(uint32_t number)
{
	uint32_t id = 0;

	return tickets_find(&tickets, number, 0, &id) ? 0 : id;
}

START_TEST(each_comes_to_its_end)
{
	uint32_t id;

	tickets_want(&tickets, 1, 0);
	tickets_want(&tickets, 1, 5 * NSEC_PER_SEC); /* again: its age does not change */
	tickets_want(&tickets, 2, 0);
	ck_assert_int_eq(tickets_find(&tickets, 1, 9 * NSEC_PER_SEC, &id), -EAGAIN);
	ck_assert_int_eq(tickets_find(&tickets, 1, 11 * NSEC_PER_SEC, &id), -ETIMEDOUT);
	ck_assert_int_eq(tickets_find(&tickets, 3, 0, &id), -ENOENT);
	ck_assert(tickets_redeem(&tickets, 1, ALICE, 77));
	ck_assert_uint_eq(id_of(1), 77);
	/* The file could not be opened. */
	ck_assert(!tickets_redeem(&tickets, 2, ALICE, 0));
	ck_assert_int_eq(tickets_find(&tickets, 2, 0, &id), -ENOENT);
	/* The file has no samples. */
	ck_assert(!tickets_redeem(&tickets, 3, ALICE, 78));
	ck_assert_int_eq(tickets_find(&tickets, 3, 0, &id), -ENOENT);
}
END_TEST

START_TEST(a_user_with_many_loses_his_oldest)
{
	uint32_t last = 2 + 2 * MAX_TICKETS_KEPT;

	tickets_want(&tickets, 1, 0);
	ck_assert(tickets_redeem(&tickets, 1, BOB, 1));
	for (uint32_t number = 2; number <= last; number++) {
		tickets_want(&tickets, number, 0);
		ck_assert(tickets_redeem(&tickets, number, ALICE, number));
	}
	ck_assert_uint_eq(id_of(1), 1);
	ck_assert_uint_eq(id_of(2), 0);
	ck_assert_uint_eq(id_of(last), last);
	ck_assert_uint_le(HASH_COUNT(tickets.by_number), MAX_TICKETS_KEPT);
}
END_TEST

START_TEST(those_awaited_have_a_bound)
{
	uint32_t id;

	for (uint32_t number = 1; number <= 2 * MAX_TICKETS; number++)
		tickets_want(&tickets, number, 0);
	ck_assert_uint_eq(HASH_COUNT(tickets.by_number), MAX_TICKETS);
	ck_assert_int_eq(tickets_find(&tickets, 2 * MAX_TICKETS, 0, &id), -ENOENT);
	for (uint32_t number = 1; number <= 2 * MAX_TICKETS; number++)
		tickets_redeem(&tickets, number, ALICE, 0);
	ck_assert_uint_eq(HASH_COUNT(tickets.by_number), 0);
}
END_TEST

Suite *tickets_suite(void)
{
	Suite *suite = suite_create("tickets");
	TCase *tcase = tcase_create("tickets");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, each_comes_to_its_end);
	tcase_add_test(tcase, a_user_with_many_loses_his_oldest);
	tcase_add_test(tcase, those_awaited_have_a_bound);
	suite_add_tcase(suite, tcase);
	return suite;
}
