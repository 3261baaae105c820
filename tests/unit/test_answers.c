/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory of the answers being sent, and the shares to which it is charged.
 */
#include "http/answers.h"

#include "tests/unit/suites.h"

#include <errno.h>

enum { MAX = 1 << 20, USER_MAX = MAX * 7 / 16, LARGE = 70 << 10, SMALL_WHOLE = MAX / 8 };

/* In the form of client_account(). For a remote client that is an address. */
static const uint64_t root = 0, user = 0xff000000e8030000, other = 0xff000000e9030000,
		      elsewhere = 0x0000ffffc0000201;

static struct answers answers;

static void set_up(void)
{
	answers = (struct answers){0};
}

static void tear_down(void)
{
	ck_assert_uint_eq(answers.large.taken, 0);
	ck_assert_uint_eq(answers.small.taken, 0);
	ck_assert_ptr_null(answers.large.by_owner);
	ck_assert_ptr_null(answers.small.by_owner);
}

static int answer_of(uint64_t account, size_t len, struct answer **ret_answer)
{
	struct buf body = BUF_INIT;

	buf_grown(&body, buf_reserve(&body, len) ? len : 0);
	return answer_new(&answers, &body, account, MAX, ret_answer);
}

/* Makes as many answers as there is room for. */
static size_t fill(uint64_t account, size_t len, struct answer *ret_answers[], size_t max)
{
	size_t count = 0;

	while (count < max && !answer_of(account, len, &ret_answers[count]))
		count++;
	return count;
}

static void unref_all(struct answer *made[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		answer_unref(made[i]);
}

START_TEST(answers_have_room_or_not)
{
	struct answer *huge, *large, *small[2], *more;

	/* No answer exceeds the bound for all answers together. Small answers have room of their
	 * own. */
	ck_assert_int_eq(answer_of(root, MAX + 1, &huge), -EFBIG);
	ck_assert_int_eq(answer_of(root, MAX, &huge), 0);
	ck_assert_int_eq(answer_of(root, LARGE, &large), -ENOBUFS);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(answer_of(root, 56 << 10, &small[i]), 0);
	ck_assert_int_eq(answer_of(root, (16 << 10) + 1, &more), -ENOBUFS);
	answer_unref(small[0]);
	ck_assert_int_eq(answer_of(root, (16 << 10) + 1, &more), 0);
	answer_unref(more);
	answer_unref(small[1]);
	answer_unref(huge);

	ck_assert_int_eq(answer_of(root, MAX / 2, &large), 0);
	ck_assert_int_eq(answer_of(root, MAX / 2, &more), 0);
	ck_assert_int_eq(answer_of(root, LARGE, &huge), -ENOBUFS);
	answer_unref(more);
	answer_unref(large);
}
END_TEST

START_TEST(one_user_leaves_room_for_others)
{
	struct answer *made[16], *others, *far, *roots;
	size_t count = fill(user, LARGE, made, 16);

	/* The user's share is 448 KiB of 1 MiB. */
	ck_assert_uint_eq(count, 6);
	ck_assert_int_eq(answer_of(user, LARGE, &others), -ENOBUFS);
	ck_assert_int_eq(answer_of(other, 3 * LARGE, &others), 0);
	ck_assert_int_eq(answer_of(elsewhere, LARGE, &far), 0);
	ck_assert_int_eq(answer_of(root, 3 * LARGE, &roots), 0);
	answer_unref(others);
	answer_unref(far);
	answer_unref(roots);
	unref_all(made, count);
}
END_TEST

START_TEST(many_users_leave_room_for_root)
{
	struct answer *made[64], *roots;
	size_t count = 0;

	for (uint64_t account = user; account < user + 20; account++)
		count += fill(account, LARGE, made + count, 64 - count);
	ck_assert_uint_lt(count, 64);
	ck_assert_int_eq(answer_of(elsewhere, LARGE, &roots), -ENOBUFS);
	ck_assert_int_eq(answer_of(root, MAX / 8, &roots), 0);
	answer_unref(roots);
	unref_all(made, count);
}
END_TEST

START_TEST(small_ones_have_shares_as_well)
{
	struct answer *made[64], *more;
	size_t count = fill(user, 4 << 10, made, 64);

	ck_assert_uint_eq(count, SMALL_WHOLE * 7 / 16 / (4 << 10));
	ck_assert_int_eq(answer_of(user, 4 << 10, &more), -ENOBUFS);
	ck_assert_int_eq(answer_of(other, 16 << 10, &more), 0);
	answer_unref(more);
	ck_assert_int_eq(answer_of(root, 56 << 10, &more), 0);
	answer_unref(more);
	unref_all(made, count);
}
END_TEST

START_TEST(a_user_alone_has_a_large_one)
{
	struct answer *answer;

	ck_assert_uint_eq(answers_largest(root, MAX), MAX);
	ck_assert_uint_eq(answers_largest(user, MAX), USER_MAX);
	ck_assert_uint_eq(answers_largest(elsewhere, MAX), USER_MAX);
	ck_assert_int_eq(answer_of(user, USER_MAX + 1, &answer), -EFBIG);
	/* There is room for one answer of any size up to the user's share. */
	for (size_t len = 0; len <= USER_MAX; len += 4 << 10) {
		ck_assert_int_eq(answer_of(user, len, &answer), 0);
		answer_unref(answer);
	}
}
END_TEST

START_TEST(a_shared_answer_counts_once)
{
	struct MHD_Response *one, *two;
	struct answer *answer;

	ck_assert_int_eq(answer_of(user, 1000, &answer), 0);
	one = answer_response(answer, user);
	two = answer_response(answer, user);
	answer_unref(answer);
	ck_assert_uint_eq(answers.small.taken, 1000);
	MHD_destroy_response(one);
	ck_assert_uint_eq(answers.small.taken, 1000);
	MHD_destroy_response(two);
	ck_assert_uint_eq(answers.small.taken, 0);
}
END_TEST

START_TEST(who_reads_slowly_has_it_in_his_share)
{
	struct MHD_Response *quick, *slow;
	struct answer *answer, *more;

	ck_assert_int_eq(answer_of(user, USER_MAX, &answer), 0);
	ck_assert(answer_is_for(answer, other, MAX) == false);
	ck_assert(answer_is_for(answer, user, MAX));
	slow = answer_response(answer, other);
	quick = answer_response(answer, user);
	answer_unref(answer);
	ck_assert_int_eq(answer_of(user, LARGE, &more), -ENOBUFS);
	MHD_destroy_response(quick);
	ck_assert_int_eq(answer_of(other, LARGE, &more), -ENOBUFS);
	ck_assert_int_eq(answer_of(user, LARGE, &more), 0);
	answer_unref(more);
	MHD_destroy_response(slow);
}
END_TEST

START_TEST(a_maker_who_is_gone_has_nothing)
{
	struct MHD_Response *response;
	struct answer *answer, *more;

	ck_assert_int_eq(answer_of(user, USER_MAX, &answer), 0);
	response = answer_response(answer, other);
	answer_unref(answer);
	ck_assert_int_eq(answer_of(other, LARGE, &more), -ENOBUFS);
	MHD_destroy_response(response);
}
END_TEST

START_TEST(a_limit_that_changes)
{
	struct answer *answer, *more;
	struct buf body = BUF_INIT;

	ck_assert_int_eq(answer_of(user, 60 << 10, &answer), 0);
	ck_assert_uint_eq(answers.large.taken, 60 << 10);
	buf_grown(&body, buf_reserve(&body, 60 << 10) ? 60 << 10 : 0);
	ck_assert_int_eq(answer_new(&answers, &body, user, 4 * MAX, &more), 0);
	ck_assert_uint_eq(answers.small.taken, 60 << 10);
	answer_unref(answer);
	ck_assert_uint_eq(answers.large.taken, 0);
	answer_unref(more);
}
END_TEST

START_TEST(a_body_that_failed)
{
	struct buf body = {.error = -ENOMEM};
	struct answer *answer = NULL;

	ck_assert_int_eq(answer_new(&answers, &body, user, MAX, &answer), -ENOMEM);
	ck_assert_ptr_null(answer);
}
END_TEST

Suite *answers_suite(void)
{
	Suite *suite = suite_create("answers");
	TCase *tests = tcase_create("answers");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, answers_have_room_or_not);
	tcase_add_test(tests, one_user_leaves_room_for_others);
	tcase_add_test(tests, many_users_leave_room_for_root);
	tcase_add_test(tests, small_ones_have_shares_as_well);
	tcase_add_test(tests, a_user_alone_has_a_large_one);
	tcase_add_test(tests, a_shared_answer_counts_once);
	tcase_add_test(tests, who_reads_slowly_has_it_in_his_share);
	tcase_add_test(tests, a_maker_who_is_gone_has_nothing);
	tcase_add_test(tests, a_limit_that_changes);
	tcase_add_test(tests, a_body_that_failed);
	suite_add_tcase(suite, tests);
	return suite;
}
