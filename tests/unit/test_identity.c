/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cgroup paths as systemd and others write them.
 */
#include "tests/unit/suites.h"

#include "proc/identity.h"

#include <string.h>

static const struct {
	const char *text, *unit;
} cases[] = {
	{"0::/system.slice/ssh.service\n", "ssh.service"},
	{"0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope"},
	{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope\n", "app-x.scope"},
	{"0::/system.slice/docker-0123abcd.scope/inner\n", "docker-0123abcd.scope"},
	{"12:pids:/x\n1:name=systemd:/system.slice/cron.service\n", "cron.service"},
	{"0::/\n", ""},
	{"0::/init.scope", "init.scope"},
	{"", ""},
	{"garbage", ""},
	{"0::/.service\n", ""},
	{"////\n\n/", ""},
};

START_TEST(finds_the_unit)
{
	char unit[64];

	identity_unit(cases[_i].text, strlen(cases[_i].text), unit, sizeof(unit));
	ck_assert_str_eq(unit, cases[_i].unit);
}
END_TEST

START_TEST(cuts_a_long_name)
{
	static const char text[] = "0::/a-very-long-name.service\n";
	char unit[8];

	identity_unit(text, strlen(text), unit, sizeof(unit));
	ck_assert_str_eq(unit, "a-very-");
}
END_TEST

Suite *identity_suite(void)
{
	Suite *suite = suite_create("identity");
	TCase *tests = tcase_create("unit");

	tcase_add_loop_test(tests, finds_the_unit, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, cuts_a_long_name);
	suite_add_tcase(suite, tests);
	return suite;
}
