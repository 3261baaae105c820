/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How many requests are under way, and how much of answers is being sent.
 */
#include "http/crowd.h"

#include "http/answers.h"
#include "tests/unit/suites.h"

#include <errno.h>

static const struct crowd_limits limits = {.all = 5, .each = 2};

static struct in6_addr client(uint8_t number)
{
	return (struct in6_addr){.s6_addr = {[15] = number}};
}

START_TEST(each_client_has_its_share)
{
	struct crowd crowd = {0};
	struct in6_addr one = client(1), other = client(2);

	ck_assert_int_eq(crowd_enter(&crowd, &one, limits), 0);
	ck_assert_int_eq(crowd_enter(&crowd, &one, limits), 0);
	ck_assert_int_eq(crowd_enter(&crowd, &one, limits), -EUSERS);
	ck_assert_int_eq(crowd_enter(&crowd, &other, limits), 0);
	crowd_leave(&crowd, &one);
	ck_assert_int_eq(crowd_enter(&crowd, &one, limits), 0);
	ck_assert_uint_eq(crowd.count, 3);
	crowd_leave(&crowd, &one);
	crowd_leave(&crowd, &one);
	crowd_leave(&crowd, &other);
	ck_assert_uint_eq(crowd.count, 0);
	ck_assert_ptr_null(crowd.clients);
}
END_TEST

START_TEST(all_together_have_theirs)
{
	struct crowd crowd = {0};
	struct in6_addr one = client(1);

	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(crowd_enter(&crowd, NULL, limits), 0);
	ck_assert_int_eq(crowd_enter(&crowd, NULL, limits), -EAGAIN);
	ck_assert_int_eq(crowd_enter(&crowd, &one, limits), -EAGAIN);
	ck_assert_ptr_null(crowd.clients);
	crowd_leave(&crowd, NULL);
	ck_assert_int_eq(crowd_enter(&crowd, &one, limits), 0);
	crowd_leave(&crowd, &one);
}
END_TEST

/* One user has half, the next one half of what is left, and for who comes new there is some. */
START_TEST(users_leave_some_for_others)
{
	struct crowd crowd = {0};
	struct in6_addr one = client(1), other = client(2), third = client(3);

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(crowd_enter_share(&crowd, &one, 8), 0);
	ck_assert_int_eq(crowd_enter_share(&crowd, &one, 8), -EDQUOT);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(crowd_enter_share(&crowd, &other, 8), 0);
	ck_assert_int_eq(crowd_enter_share(&crowd, &other, 8), -EDQUOT);
	ck_assert_int_eq(crowd_enter_share(&crowd, &third, 8), 0);
	ck_assert_int_eq(crowd_enter_share(&crowd, &third, 8), -EDQUOT);
	ck_assert_int_eq(crowd_enter_share(&crowd, &third, 7), -EAGAIN);
	crowd_leave(&crowd, &third);
	crowd_leave(&crowd, &other);
	crowd_leave(&crowd, &other);
	while (crowd.count)
		crowd_leave(&crowd, &one);
	ck_assert_ptr_null(crowd.clients);
	ck_assert_int_eq(crowd_enter_share(&crowd, &one, 1), 0);
	crowd_leave(&crowd, &one);
}
END_TEST

static int answer_of(struct answers *answers, size_t len, struct answer **ret_answer)
{
	struct buf body = BUF_INIT;

	buf_grown(&body, buf_reserve(&body, len) ? len : 0);
	return answer_new(answers, &body, 1 << 20, ret_answer);
}

START_TEST(answers_have_room_or_not)
{
	struct answers answers = {0};
	struct answer *huge, *large, *small[2], *more;

	/* None is larger than all may be together; small ones have a room of their own. */
	ck_assert_int_eq(answer_of(&answers, (1 << 20) + 1, &huge), -EFBIG);
	ck_assert_int_eq(answer_of(&answers, 1 << 20, &huge), 0);
	ck_assert_int_eq(answer_of(&answers, 70 << 10, &large), -ENOBUFS);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(answer_of(&answers, 64 << 10, &small[i]), 0);
	ck_assert_int_eq(answer_of(&answers, 1, &more), -ENOBUFS);
	answer_unref(small[0]);
	ck_assert_int_eq(answer_of(&answers, 1, &more), 0);
	answer_unref(more);
	answer_unref(small[1]);
	answer_unref(huge);

	ck_assert_int_eq(answer_of(&answers, 1 << 19, &large), 0);
	ck_assert_int_eq(answer_of(&answers, 1 << 19, &more), 0);
	ck_assert_int_eq(answer_of(&answers, 70 << 10, &huge), -ENOBUFS);
	answer_unref(more);
	answer_unref(large);
	ck_assert_uint_eq(answers.bytes, 0);
	ck_assert_uint_eq(answers.small_bytes, 0);
}
END_TEST

START_TEST(a_shared_answer_counts_once)
{
	struct answers answers = {0};
	struct MHD_Response *one, *other;
	struct answer *answer;

	ck_assert_int_eq(answer_of(&answers, 1000, &answer), 0);
	one = answer_response(answer);
	other = answer_response(answer);
	answer_unref(answer);
	ck_assert_uint_eq(answers.small_bytes, 1000);
	MHD_destroy_response(one);
	ck_assert_uint_eq(answers.small_bytes, 1000);
	MHD_destroy_response(other);
	ck_assert_uint_eq(answers.small_bytes, 0);
}
END_TEST

START_TEST(a_body_that_failed)
{
	struct answers answers = {0};
	struct buf body = {.error = -ENOMEM};
	struct answer *answer = NULL;

	ck_assert_int_eq(answer_new(&answers, &body, 1 << 20, &answer), -ENOMEM);
	ck_assert_ptr_null(answer);
	ck_assert_uint_eq(answers.bytes, 0);
}
END_TEST

Suite *crowd_suite(void)
{
	Suite *suite = suite_create("crowd");
	TCase *tests = tcase_create("crowd");

	tcase_add_test(tests, each_client_has_its_share);
	tcase_add_test(tests, all_together_have_theirs);
	tcase_add_test(tests, users_leave_some_for_others);
	tcase_add_test(tests, answers_have_room_or_not);
	tcase_add_test(tests, a_shared_answer_counts_once);
	tcase_add_test(tests, a_body_that_failed);
	suite_add_tcase(suite, tests);
	return suite;
}
