/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long profd waits for the files of users that were late.
 */
#include "symbolize/late_users.h"

#include "tests/unit/suites.h"

static const uint64_t start_ns = 1000 * NSEC_PER_SEC;

START_TEST(half_as_long_each_time)
{
	const struct object object = {.owner = 1000, .user = 1000};
	struct late_users users = {0};

	ck_assert_uint_eq(late_users_patience_ns(&users, &object, start_ns), PATIENCE_NS);
	late_users_note(&users, &object, start_ns);
	ck_assert_uint_eq(late_users_patience_ns(&users, &object, start_ns), PATIENCE_NS / 2);
	for (int i = 0; i < 9; i++)
		late_users_note(&users, &object, start_ns);
	ck_assert_uint_eq(late_users_patience_ns(&users, &object, start_ns), 0);
	/* It doubles again every 15 seconds. */
	ck_assert_uint_eq(late_users_patience_ns(&users, &object, start_ns + 15 * NSEC_PER_SEC - 1),
	                  0);
	ck_assert_uint_eq(late_users_patience_ns(&users, &object, start_ns + 15 * NSEC_PER_SEC),
	                  PATIENCE_NS / 16);
	ck_assert_uint_eq(late_users_patience_ns(&users, &object, start_ns + 75 * NSEC_PER_SEC),
	                  PATIENCE_NS);
}
END_TEST

START_TEST(others_are_not_late)
{
	const struct object user = {.owner = 1000, .user = 1000};
	const struct object other = {.owner = 1001, .user = 1001};
	const struct object mapped = {.owner = 0, .user = 1000}, root = {.owner = 0, .user = 0};
	struct late_users users = {0};

	late_users_note(&users, &user, start_ns);
	late_users_note(&users, &mapped, start_ns);
	ck_assert_uint_eq(late_users_patience_ns(&users, &other, start_ns), PATIENCE_NS);
	ck_assert_uint_eq(late_users_patience_ns(&users, &root, start_ns), PATIENCE_NS);
}
END_TEST

START_TEST(who_was_late_longest_ago_makes_room)
{
	struct late_users users = {0};
	struct object object = {0};

	for (uint32_t i = 0; i <= MAX_LATE_USERS; i++) {
		object.owner = object.user = 1000 + i;
		late_users_note(&users, &object, start_ns + i);
	}
	for (uint32_t i = 0; i <= MAX_LATE_USERS; i++) {
		object.owner = object.user = 1000 + i;
		ck_assert_uint_eq(late_users_patience_ns(&users, &object, start_ns + i),
		                  i == 0 ? PATIENCE_NS : PATIENCE_NS / 2);
	}
}
END_TEST

Suite *late_users_suite(void)
{
	Suite *suite = suite_create("late_users");
	TCase *tests = tcase_create("late_users");

	tcase_add_test(tests, half_as_long_each_time);
	tcase_add_test(tests, others_are_not_late);
	tcase_add_test(tests, who_was_late_longest_ago_makes_room);
	suite_add_tcase(suite, tests);
	return suite;
}
