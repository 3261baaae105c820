/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names that a client may use for this host, and the origins of pages that make browsers send
 * requests.
 */
#include "access/host_name.h"

#include "tests/unit/suites.h"

static const struct {
	const char *host;
	bool ours;
} hosts[] = {
	{"127.0.0.1", true},
	{"127.0.0.1:9090", true},
	{"192.0.2.7:9090", true},
	{"[::1]:9090", true},
	{"[::1]", true},
	{"[fd00::1]:80", true},
	{"localhost", true},
	{"LocalHost:9090", true},
	{"localhost.:9090", true},
	{"a.b.localhost", true},
	{"box", true},
	{"BOX:9090", true},
	{"box.example.org", true},
	{"box.example.org.", true},
	{"box.corp", true},
	{"named.example.net:1", true},
	{"Other", true},
	{"", false},
	{":9090", false},
	{"evil.example", false},
	{"notlocalhost", false},
	{"localhost.evil.example", false},
	{"127.0.0.1.evil.example", false},
	{"box.evil.example", false},
	{"boxer", false},
	{"example.org", false},
	{"named.example.net.evil.example", false},
	{"2130706433", false},
	{"0x7f.1", false},
	{"::1", false},
	{"[::1", false},
	{"[127.0.0.1]", false},
	{"[localhost]", false},
	{"localhost:", true},
	{"localhost:x", false},
	{"localhost:65536", false},
	{"localhost:80:80", false},
	{"user@localhost", false},
	{"localhost/x", false},
	{"localhost ", false},
	{".", false},
	{"..", false},
};

START_TEST(names_of_this_host)
{
	struct utsname self = {.nodename = "box.example.org", .domainname = "corp"};
	bool ours = host_is_ours(hosts[_i].host, &self, "named.example.net  other");

	ck_assert_msg(ours == hosts[_i].ours, "%s", hosts[_i].host);
}
END_TEST

START_TEST(without_a_name)
{
	struct utsname self = {.nodename = "", .domainname = "(none)"};
	char name[300];

	ck_assert(host_is_ours("localhost", &self, NULL));
	ck_assert(!host_is_ours("box", &self, NULL));
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert(!host_is_ours(name, &self, NULL));
	/* A long name is not truncated to one that is allowed. */
	memcpy(name + 253, ".localhost", sizeof(".localhost"));
	ck_assert(!host_is_ours(name, &self, NULL));
}
END_TEST

START_TEST(origins)
{
	ck_assert(origin_is_host("http://localhost:9090", "localhost:9090"));
	ck_assert(origin_is_host("https://Box", "box"));
	ck_assert(!origin_is_host("http://localhost:3000", "localhost:9090"));
	ck_assert(!origin_is_host("http://localhost", "localhost:9090"));
	ck_assert(!origin_is_host("null", "localhost"));
	ck_assert(!origin_is_host("", "localhost"));
	ck_assert(!origin_is_host("ftp://localhost", "localhost"));
}
END_TEST

Suite *host_name_suite(void)
{
	Suite *suite = suite_create("host_name");
	TCase *tests = tcase_create("host_name");

	tcase_add_loop_test(tests, names_of_this_host, 0, sizeof(hosts) / sizeof(hosts[0]));
	tcase_add_test(tests, without_a_name);
	tcase_add_test(tests, origins);
	suite_add_tcase(suite, tests);
	return suite;
}
