/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parts of the HTTP side that need no running collector: the table of routes, listening
 * addresses and sockets, refusals, and times. Live HTTP is in tests/system.
 */
#include "base/clock.h"
#include "base/text.h"
#include "http/listen.h"
#include "http/route.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

START_TEST(routes_are_found)
{
	ck_assert_ptr_eq(route_find("/profile")->handle, handle_profile);
	ck_assert_ptr_eq(route_find("/debug/pprof/profile")->handle, handle_profile);
	ck_assert_ptr_eq(route_find("/pprof/profile")->handle, handle_profile);
	ck_assert_ptr_eq(route_find("/healthz")->handle, handle_healthz);
	ck_assert_ptr_null(route_find("/profile/"));
	ck_assert_ptr_null(route_find("//profile"));
	ck_assert_ptr_null(route_find(""));
	ck_assert_ptr_null(route_find("/debug/pprof/heap"));
	for (const struct route *route = routes; route->path; route++) {
		ck_assert_ptr_eq(route_find(route->path), route);
		ck_assert_ptr_nonnull(route->parameters);
		ck_assert_ptr_nonnull(route->handle);
		ck_assert(!route->summary == !route->example);
	}
}
END_TEST

static const struct {
	const char *text;
	int err;
	int family;
} addresses[] = {
	{"127.0.0.1:9090", 0, AF_INET},
	{"localhost:1", 0, AF_INET},
	{"0.0.0.0:65535", 0, AF_INET},
	{"[::1]:9090", 0, AF_INET6},
	{":9090", 0, AF_INET6},
	{"unix:/run/profd.sock", 0, AF_UNIX},
	{"", -EINVAL, 0},
	{"9090", -EINVAL, 0},
	{"127.0.0.1", -EINVAL, 0},
	{"127.0.0.1:", -EINVAL, 0},
	{"127.0.0.1:65536", -EINVAL, 0},
	{"127.0.0.1:-1", -EINVAL, 0},
	{"127.0.0.1:90x", -EINVAL, 0},
	{"127.0.0.256:1", -EINVAL, 0},
	{"::1:9090", -EINVAL, 0},
	{"[::1]", -EINVAL, 0},
	{"[]:1", -EINVAL, 0},
	{"[:1", -EINVAL, 0},
	{"[1.2.3.4]:1", -EINVAL, 0},
	{"example.org:80", -EINVAL, 0},
	{"unix:", -EINVAL, 0},
	{"unix:/"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         -EINVAL, 0},
};

START_TEST(addresses_are_parsed)
{
	struct listen_address address = {0};
	int err = listen_parse(addresses[_i].text, &address);

	ck_assert_msg(err == addresses[_i].err, "%s: %d", addresses[_i].text, err);
	if (!err)
		ck_assert_int_eq(address.socket.any.sa_family, addresses[_i].family);
}
END_TEST

static const struct {
	const char *text;
	bool local;
} reaches[] = {
	{"127.0.0.1:1", true},
	{"127.255.0.1:1", true},
	{"128.0.0.1:1", false},
	{"0.0.0.0:1", false},
	{"192.168.127.1:1", false},
	{":1", false},
	{"[::]:1", false},
	{"[::1]:1", true},
	{"[::7f00:1]:1", false},
	{"[fe80::1]:1", false},
	{"[::ffff:127.0.0.1]:1", true},
	{"[::ffff:10.0.0.1]:1", false},
	{"unix:/run/profd.sock", true},
};

START_TEST(other_hosts_reach_some)
{
	struct listen_address address;

	ck_assert_int_eq(listen_parse(reaches[_i].text, &address), 0);
	ck_assert_int_eq(listen_is_local(&address), reaches[_i].local);
}
END_TEST

START_TEST(sockets)
{
	char folder[] = "/tmp/profd-test-XXXXXX", path[64], text[80], why[256];
	const char *all[] = {text, "127.0.0.1:0"};
	struct listeners first, second;
	struct stat st;
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/socket", folder);
	snprintf(text, sizeof(text), "unix:%s", path);

	ck_assert_int_eq(listeners_open(all, 2, &first, why), 0);
	ck_assert_uint_eq(first.count, 2);
	ck_assert_str_eq(first.at[0].name, text);
	ck_assert_str_ne(first.at[1].name, "127.0.0.1:0");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0660);

	/* The socket is in use: refused, and the owner's file stays. */
	ck_assert_int_eq(listeners_open(all, 1, &second, why), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(why, "cannot listen on unix:"));
	ck_assert_int_eq(stat(path, &st), 0);
	all[0] = first.at[1].name;
	ck_assert_int_eq(listeners_open(all, 1, &second, why), -EADDRINUSE);
	all[0] = text;

	/* A socket left behind is replaced. */
	close(first.at[0].fd);
	first.at[0].fd = -1;
	ck_assert_int_eq(listeners_open(all, 1, &second, why), 0);
	listeners_release(&second);
	ck_assert_int_eq(stat(path, &st), -1);
	listeners_release(&first);

	/* A file that is not a socket is left alone. */
	file = fopen(path, "w");
	fclose(file);
	ck_assert_int_eq(listeners_open(all, 1, &second, why), -EEXIST);
	ck_assert_int_eq(unlink(path), 0);
	rmdir(folder);
}
END_TEST

START_TEST(refusals_are_one_printable_line)
{
	struct refusal refusal;
	char huge[2048];

	ck_assert_int_eq(refuse(&refusal, 400, "%s", "a\r\nb\x7f\xff\xe2\x82\xac"), -EINVAL);
	ck_assert_str_eq(refusal.text, "a??b??\xe2\x82\xac");
	memset(huge, 'x', sizeof(huge));
	huge[sizeof(huge) - 1] = '\0';
	refuse(&refusal, 404, "%s", huge);
	ck_assert_uint_eq(strlen(refusal.text), sizeof(refusal.text) - 1);
	ck_assert_uint_eq(refusal.status, 404);
}
END_TEST

START_TEST(timestamps)
{
	char text[TIME_TEXT_BYTES];

	text_format_time(0, text);
	ck_assert_str_eq(text, "1970-01-01T00:00:00.000Z");
	text_format_time(1795262400 * NSEC_PER_SEC + 1234567, text);
	ck_assert_str_eq(text, "2026-11-21T12:00:00.001Z");
	text_format_time(UINT64_MAX, text);
	ck_assert_str_eq(text, "2554-07-21T23:34:33.709Z");
}
END_TEST

Suite *server_suite(void)
{
	Suite *suite = suite_create("server");
	TCase *tests = tcase_create("server");

	tcase_add_test(tests, routes_are_found);
	tcase_add_loop_test(tests, addresses_are_parsed, 0,
	                    sizeof(addresses) / sizeof(addresses[0]));
	tcase_add_loop_test(tests, other_hosts_reach_some, 0, sizeof(reaches) / sizeof(reaches[0]));
	tcase_add_test(tests, sockets);
	tcase_add_test(tests, refusals_are_one_printable_line);
	tcase_add_test(tests, timestamps);
	suite_add_tcase(suite, tests);
	return suite;
}
