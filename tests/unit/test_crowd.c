/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Numbers of requests in flight.
 */
#include "access/crowd.h"

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

/* One client may have half, the next one half of the rest, and there is room left for a new
 * client. */
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

Suite *crowd_suite(void)
{
	Suite *suite = suite_create("crowd");
	TCase *tests = tcase_create("crowd");

	tcase_add_test(tests, each_client_has_its_share);
	tcase_add_test(tests, all_together_have_theirs);
	tcase_add_test(tests, users_leave_some_for_others);
	suite_add_tcase(suite, tests);
	return suite;
}
