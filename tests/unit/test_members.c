/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The members of a user group, compared with the system's own tables.
 */
#include "access/members.h"

#include "tests/unit/suites.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>

START_TEST(each_once)
{
	const uint32_t uids[] = {7, 4294967295U, 3, 7, 1000, 3};
	_cleanup_(members_freep) struct members *members = members_new(uids, 6);

	ck_assert_uint_eq(members_count(members), 4);
	for (size_t i = 0; i < 6; i++)
		ck_assert(members_have(members, uids[i]));
	ck_assert(!members_have(members, 0));
	ck_assert(!members_have(members, 999));
}
END_TEST

START_TEST(nobody)
{
	_cleanup_(members_freep) struct members *members = members_new(NULL, 0);

	ck_assert_uint_eq(members_count(members), 0);
	ck_assert(!members_have(members, 0));
}
END_TEST

/* Every user of this host is a member of its primary group. */
START_TEST(own_groups)
{
	_cleanup_(members_freep) struct members *members = NULL;
	const struct passwd *user = getpwnam("nobody");
	const struct group *group = user ? getgrgid(user->pw_gid) : NULL;
	uint32_t uid = user ? user->pw_uid : 0;

	ck_assert_ptr_nonnull(group);
	ck_assert_int_eq(members_read(group->gr_name, &members), 0);
	ck_assert(members_have(members, uid));
	ck_assert(!members_have(members, 0));
}
END_TEST

START_TEST(no_such_group)
{
	struct members *members = NULL;

	ck_assert_int_eq(members_read("no-such-group-here", &members), -ENOENT);
	ck_assert_ptr_null(members);
}
END_TEST

Suite *members_suite(void)
{
	Suite *suite = suite_create("members");
	TCase *tests = tcase_create("members");

	tcase_add_test(tests, each_once);
	tcase_add_test(tests, nobody);
	tcase_add_test(tests, own_groups);
	tcase_add_test(tests, no_such_group);
	suite_add_tcase(suite, tests);
	return suite;
}
