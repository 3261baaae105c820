/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The user that a reader process becomes: a user ID that is not in use.
 */
#include "reader/user.h"

#include "tests/unit/suites.h"

#include <pwd.h>
#include <string.h>

static struct text of(const char *string)
{
	return text_of(string, strlen(string));
}

START_TEST(named)
{
	const char *passwd = "root:x:0:0:root:/root:/bin/sh\n"
			     "broken\n:\n::\n"
			     "own:x:2100000000:2100000001::/:/bin/false\n"
			     "last:x:70:70::/:/bin/false";

	ck_assert(user_is_named(of(passwd), 0));
	ck_assert(user_is_named(of(passwd), 2100000000));
	ck_assert(user_is_named(of(passwd), 70));
	ck_assert(!user_is_named(of(passwd), 2100000001));
	ck_assert(!user_is_named(of(passwd), 7));
	ck_assert(!user_is_named(of(""), 0));
}
END_TEST

START_TEST(delegated)
{
	const char *subuid =
		"a:100000:65536\nb:2100000000:3\nbroken:1\n:\nc:5:18446744073709551615";

	ck_assert(user_is_delegated(of(subuid), 100000));
	ck_assert(user_is_delegated(of(subuid), 165535));
	ck_assert(user_is_delegated(of(subuid), 2100000002));
	ck_assert(user_is_delegated(of(subuid), 5));
	ck_assert(!user_is_delegated(of(subuid), 4));
	ck_assert(!user_is_delegated(of("a:100000:65536\n"), 165536));
	ck_assert(!user_is_delegated(of("a:100000:65536\n"), 99999));
}
END_TEST

START_TEST(mapped)
{
	const char *all = "         0          0 4294967295\n",
		   *some = "0 100000 65536\n70000 1 1\n";

	ck_assert(user_is_mapped(of(all), 0));
	ck_assert(user_is_mapped(of(all), 2100000000));
	ck_assert(user_is_mapped(of(some), 65535));
	ck_assert(user_is_mapped(of(some), 70000));
	ck_assert(!user_is_mapped(of(some), 65536));
	ck_assert(!user_is_mapped(of(some), 100000));
	ck_assert(!user_is_mapped(of("0\n"), 0));
}
END_TEST

START_TEST(picked)
{
	uint32_t id = user_pick(USER_OF_READER);

	ck_assert(id >= READER_USER_FIRST ||
	          (id >= CONTAINER_USER_FIRST && id < CONTAINER_USER_FIRST + CONTAINER_USER_COUNT));
	ck_assert_ptr_null(getpwuid(id));
	ck_assert_uint_eq(user_pick(USER_OF_READER), id);
	ck_assert_uint_ne(user_pick(USER_OF_FETCHER), id);
}
END_TEST

Suite *reader_user_suite(void)
{
	Suite *suite = suite_create("reader_user");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, named);
	tcase_add_test(tests, delegated);
	tcase_add_test(tests, mapped);
	tcase_add_test(tests, picked);
	suite_add_tcase(suite, tests);
	return suite;
}
