/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shares of a bounded resource, and the owners of processes.
 */
#include "base/shares.h"

#include "base/clock.h"
#include "proc/owner.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <unistd.h>

static struct shares shares;

static void set_up(void)
{
	shares = (struct shares){.whole = 1200};
}

static void tear_down(void)
{
	shares_clear(&shares);
}

static unsigned int take_all(uint32_t owner)
{
	unsigned int count = 0;

	while (shares_take(&shares, owner, 1))
		count++;
	return count;
}

START_TEST(who_has_most)
{
	uint64_t owner = 7;

	ck_assert(!shares_largest(&shares, &owner));
	for (uint32_t i = 1; i < 5; i++)
		ck_assert(shares_add(&shares, i, i == 3 ? 9 : i));
	ck_assert(shares_largest(&shares, &owner));
	ck_assert_uint_eq(owner, 3);
	shares_give(&shares, 3, 6);
	ck_assert(shares_largest(&shares, &owner));
	ck_assert_uint_eq(owner, 4);
}
END_TEST

START_TEST(some_is_left_for_who_comes_new)
{
	ck_assert_uint_eq(take_all(1), 600);
	ck_assert_uint_eq(take_all(2), 300);
	ck_assert_uint_eq(take_all(3), 150);
	ck_assert_uint_eq(take_all(1), 0);
	for (uint32_t owner = 4; owner < 10; owner++)
		ck_assert_uint_gt(take_all(owner), 0);
}
END_TEST

START_TEST(somebody_else_has_it)
{
	const uint64_t address = 0x0000ffffc0000201, zeroes = 0xff00000000000000;

	/* Numbers that are not user IDs are valid owners, too. */
	ck_assert(shares_take_left(&shares, address, 900));
	ck_assert(!shares_take_left(&shares, zeroes, 301));
	ck_assert(shares_take_left(&shares, zeroes, 300));
	ck_assert(shares_move(&shares, address, 1, 900));
	ck_assert_uint_eq(shares.taken, 1200);
	shares_give(&shares, address, 900);
	ck_assert_uint_eq(shares.taken, 1200);
	shares_give(&shares, 1, 900);
	shares_give(&shares, 0, 300);
	ck_assert_uint_eq(shares.taken, 300);
	shares_give(&shares, zeroes, 300);
	ck_assert_uint_eq(shares.taken, 0);
}
END_TEST

START_TEST(what_is_given_back_is_free)
{
	take_all(1);
	shares_give(&shares, 1, 600);
	ck_assert_uint_eq(shares.taken, 0);
	ck_assert_uint_eq(take_all(2), 600);
	/* An owner cannot give back more than it has. */
	shares_give(&shares, 3, 5);
	shares_give(&shares, 2, 1000);
	ck_assert_uint_eq(shares.taken, 0);
}
END_TEST

START_TEST(an_eighth_is_kept_for_root)
{
	unsigned int roots = 0;

	for (uint32_t owner = 1; owner < 2000; owner++)
		while (shares_take_beside_root(&shares, owner, 1))
			;
	ck_assert_uint_ge(shares.taken, 1000);
	ck_assert_uint_le(shares.taken, 1050);
	while (shares_take_beside_root(&shares, 0, 1))
		roots++;
	ck_assert_uint_ge(roots, 75);
	ck_assert(!shares_take_beside_root(&shares, 3000, 1));
}
END_TEST

START_TEST(amounts_do_not_wrap)
{
	ck_assert(!shares_take(&shares, 1, 601));
	ck_assert(!shares_take(&shares, 1, UINT64_MAX));
	ck_assert(shares_take(&shares, 1, 600));
	ck_assert(!shares_take(&shares, 1, UINT64_MAX));
	ck_assert_uint_eq(shares.taken, 600);
}
END_TEST

START_TEST(who_has_too_much)
{
	ck_assert(shares_add(&shares, 1, 599));
	ck_assert(!shares_exceeded(&shares, 1));
	ck_assert(shares_add(&shares, 2, 10));
	ck_assert(shares_exceeded(&shares, 1));
	ck_assert(!shares_exceeded(&shares, 2));
	ck_assert(!shares_exceeded(&shares, 3));
	ck_assert(shares_add(&shares, 1, 5000));
	ck_assert(shares_exceeded(&shares, 3));
}
END_TEST

static uint32_t parse(const char *text)
{
	return owner_parse(text, strlen(text));
}

static uint32_t parse_sole(const char *text)
{
	return owner_parse_sole(text, strlen(text));
}

START_TEST(whose_a_process_is)
{
	ck_assert_uint_eq(parse("Name:\tsh\nUid:\t1000\t0\t0\t0\nGid:\t1\n"), 1000);
	ck_assert_uint_eq(parse("Name:\tsh\\nUid:\t5\t5\nUid:\t7\t0\t0\t0\n"), 7);
	ck_assert_uint_eq(parse("Name:\tUid:\t5\n"), OWNER_UNKNOWN);
	ck_assert_uint_eq(parse("Name:\tsh\nUid:\n"), OWNER_UNKNOWN);
	ck_assert_uint_eq(parse("Name:\tsh\nUid:"), OWNER_UNKNOWN);
	ck_assert_uint_eq(parse("Name:\tsh\nUid:\t99999999999\n"), OWNER_UNKNOWN);
	ck_assert_uint_eq(parse(""), OWNER_UNKNOWN);
	ck_assert_uint_eq(parse_sole("\nUid:\t7\t7\t7\t7\n"), 7);
	ck_assert_uint_eq(parse_sole("\nUid:\t7\t0\t0\t0\n"), OWNER_UNKNOWN);
	ck_assert_uint_eq(parse_sole("\nUid:\t7\t7\t0\t7\n"), OWNER_UNKNOWN);
	ck_assert_uint_eq(parse_sole("\nUid:\t7\t7\t7\n"), OWNER_UNKNOWN);
	ck_assert_uint_eq(owner_read_sole((uint32_t)getpid()), getuid());
	ck_assert_uint_eq(owner_read_sole(4000001), OWNER_UNKNOWN);
	ck_assert_uint_eq(owner_read((uint32_t)getpid()), getuid());
	ck_assert_uint_eq(owner_read(4000001), OWNER_UNKNOWN);
}
END_TEST

START_TEST(each_second_has_shares_of_its_own)
{
	struct shares_of_second second = {0};
	uint64_t now_ns = 1000 * NSEC_PER_SEC;

	ck_assert(shares_take(shares_now(&second, 100, now_ns), 1, 40));
	ck_assert(!shares_take(shares_now(&second, 100, now_ns + NSEC_PER_SEC - 1), 1, 40));
	ck_assert(shares_take(shares_now(&second, 100, now_ns + NSEC_PER_SEC), 1, 40));
	shares_clear(&second.shares);
}
END_TEST

Suite *shares_suite(void)
{
	Suite *suite = suite_create("shares");
	TCase *tcase = tcase_create("shares");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, who_has_most);
	tcase_add_test(tcase, some_is_left_for_who_comes_new);
	tcase_add_test(tcase, somebody_else_has_it);
	tcase_add_test(tcase, what_is_given_back_is_free);
	tcase_add_test(tcase, an_eighth_is_kept_for_root);
	tcase_add_test(tcase, amounts_do_not_wrap);
	tcase_add_test(tcase, who_has_too_much);
	tcase_add_test(tcase, each_second_has_shares_of_its_own);
	tcase_add_test(tcase, whose_a_process_is);
	suite_add_tcase(suite, tcase);
	return suite;
}
