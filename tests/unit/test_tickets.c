/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tickets: what happens to a file that was sampled before it was open, and how many such
 * files are remembered.
 */
#include "object/tickets.h"
#include "tests/unit/suites.h"

#include "base/clock.h"

#include <errno.h>

enum { ALICE = 1000, BOB = 1001 };

static struct tickets tickets;

static void set_up(void)
{
	tickets_init(&tickets);
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

/* The file is sampled while it is being opened. */
static void want(uint32_t number, uint32_t user)
{
	tickets_begin(&tickets, number, user);
	tickets_want(&tickets, number, 0);
}

START_TEST(each_comes_to_its_end)
{
	uint32_t id;

	want(1, ALICE);
	tickets_want(&tickets, 1, 5 * NSEC_PER_SEC); /* again: its age does not change */
	want(2, ALICE);
	tickets_begin(&tickets, 3, ALICE);
	ck_assert_int_eq(tickets_find(&tickets, 1, 9 * NSEC_PER_SEC, &id), -EAGAIN);
	ck_assert_int_eq(tickets_find(&tickets, 1, 11 * NSEC_PER_SEC, &id), -ETIMEDOUT);
	ck_assert_int_eq(tickets_find(&tickets, 3, 0, &id), -ENOENT);
	ck_assert(tickets_redeem(&tickets, 1, 77));
	ck_assert_uint_eq(id_of(1), 77);
	/* The file could not be opened. */
	ck_assert(!tickets_redeem(&tickets, 2, 0));
	ck_assert_int_eq(tickets_find(&tickets, 2, 0, &id), -ENOENT);
	/* The file has no samples. */
	ck_assert(!tickets_redeem(&tickets, 3, 78));
	ck_assert_int_eq(tickets_find(&tickets, 3, 0, &id), -ENOENT);
	/* Nothing was begun. */
	ck_assert(!tickets_redeem(&tickets, 4, 79));
	ck_assert_uint_eq(tickets.refused, 0);
	tickets_want(&tickets, 4, 0);
	ck_assert_uint_eq(tickets.refused, 1);
	ck_assert_int_eq(tickets_find(&tickets, 4, 0, &id), -ENOENT);
	ck_assert_uint_eq(tickets.awaited.taken, 0);
	ck_assert_uint_eq(tickets.kept.taken, 1);
}
END_TEST

START_TEST(a_user_with_many_loses_his_oldest)
{
	uint32_t last = 2 + 2 * MAX_TICKETS_KEPT;

	want(1, BOB);
	ck_assert(tickets_redeem(&tickets, 1, 1));
	for (uint32_t number = 2; number <= last; number++) {
		want(number, ALICE);
		ck_assert(tickets_redeem(&tickets, number, number));
	}
	ck_assert_uint_eq(id_of(1), 1);
	ck_assert_uint_eq(id_of(2), 0);
	ck_assert_uint_eq(id_of(last), last);
	ck_assert_uint_le(HASH_COUNT(tickets.by_number), MAX_TICKETS_KEPT);
	ck_assert_uint_eq(tickets.awaited.taken, 0);
}
END_TEST

/* A user whose files take long to open leaves room for others. */
START_TEST(those_awaited_have_shares)
{
	uint32_t last = 2 * MAX_TICKETS, id;

	for (uint32_t number = 1; number <= last; number++)
		want(number, ALICE);
	ck_assert_uint_eq(tickets.awaited.taken, MAX_TICKETS / 2);
	ck_assert_uint_eq(tickets.refused, last - MAX_TICKETS / 2);
	ck_assert_int_eq(tickets_find(&tickets, last, 0, &id), -ENOENT);
	for (uint32_t number = last + 1; number <= 2 * last; number++)
		want(number, BOB);
	ck_assert_uint_eq(tickets.awaited.taken, MAX_TICKETS / 2 + MAX_TICKETS / 4);
	ck_assert_int_eq(tickets_find(&tickets, last + 1, 0, &id), -EAGAIN);
	for (uint32_t number = 1; number <= 2 * last; number++)
		tickets_redeem(&tickets, number, 0);
	ck_assert_uint_eq(HASH_COUNT(tickets.by_number), 0);
	ck_assert_uint_eq(tickets.awaited.taken, 0);
}
END_TEST

Suite *tickets_suite(void)
{
	Suite *suite = suite_create("tickets");
	TCase *tcase = tcase_create("tickets");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, each_comes_to_its_end);
	tcase_add_test(tcase, a_user_with_many_loses_his_oldest);
	tcase_add_test(tcase, those_awaited_have_shares);
	suite_add_tcase(suite, tcase);
	return suite;
}
