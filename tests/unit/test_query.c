/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Query strings, and the requests that /profile makes from them.
 */
#include "api/profile_query.h"

#include "base/clock.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint64_t now_ns = 1800000000 * NSEC_PER_SEC;
static const uint64_t keep_ns = 600 * NSEC_PER_SEC;
static const struct profile_bounds kept = {keep_ns, MAX_CAPTURE_SECONDS};

/* Parses from memory of exactly the right size, so that ASan detects a read beyond its end. */
static int parse(const char *text, struct query *query, struct refusal *refusal)
{
	_cleanup_free_ char *exact = NULL;
	size_t len = strlen(text);

	exact = malloc(len ? len : 1);
	memcpy(exact, text, len);
	return query_parse(exact, len, query, refusal);
}

static int ask(const char *text, struct query *query, struct profile_query *ret_profile,
               struct refusal *refusal)
{
	int err = parse(text, query, refusal);

	if (!err)
		err = query_check(query, profile_parameters, refusal);
	if (!err)
		err = profile_query_read(query, now_ns, &kept, ret_profile, refusal);
	return err;
}

static const struct {
	const char *text;
	const char *pairs; /* name=value; in their order, decoded */
} good[] = {
	{"", ""},
	{"&", ""},
	{"a", "a=;"},
	{"a=", "a=;"},
	{"=b", "=b;"},
	{"a=1&b=2", "a=1;b=2;"},
	{"a=1&&b=2&", "a=1;b=2;"},
	{"a=b=c", "a=b=c;"},
	{"comm=a%20b", "comm=a b;"},
	{"comm=a+b", "comm=a b;"},
	{"%61=%62", "a=b;"},
	{"x=%2B%2b", "x=++;"},
	{"x=%e2%82%ac", "x=\xe2\x82\xac;"},
	{"x=%ff", "x=\xff;"},
};

START_TEST(decodes)
{
	struct query query;
	struct refusal refusal;
	char pairs[256] = "";

	ck_assert_int_eq(parse(good[_i].text, &query, &refusal), 0);
	for (size_t i = 0; i < query.count; i++) {
		size_t len = strlen(pairs);

		snprintf(pairs + len, sizeof(pairs) - len, "%s=%s;", query.pairs[i].name,
		         query.pairs[i].value);
	}
	ck_assert_str_eq(pairs, good[_i].pairs);
	query_release(&query);
}
END_TEST

static const char *const bad[] = {"a=%", "a=%4", "a=%zz", "%", "a=%00", "a=%4g", "b=1&%0"};

START_TEST(refuses_bad_escapes)
{
	struct query query;
	struct refusal refusal = {0};

	ck_assert_int_eq(parse(bad[_i], &query, &refusal), -EINVAL);
	ck_assert_uint_eq(refusal.status, 400);
	ck_assert_ptr_null(strchr(refusal.text, '\n'));
}
END_TEST

START_TEST(refuses_nul)
{
	struct query query;
	struct refusal refusal = {0};

	ck_assert_int_eq(query_parse("a=\0b", 4, &query, &refusal), -EINVAL);
	ck_assert_uint_eq(refusal.status, 400);
}
END_TEST

START_TEST(bounds)
{
	_cleanup_free_ char *text = malloc(MAX_QUERY_BYTES + 1);
	struct query query;
	struct refusal refusal = {0};

	memset(text, 'a', MAX_QUERY_BYTES + 1);
	ck_assert_int_eq(query_parse(text, MAX_QUERY_BYTES + 1, &query, &refusal), -EINVAL);
	ck_assert_uint_eq(refusal.status, 414);
	ck_assert_int_eq(query_parse(text, MAX_QUERY_BYTES, &query, &refusal), 0);
	ck_assert_uint_eq(query.count, 1);
	ck_assert_uint_eq(strlen(query.pairs[0].name), MAX_QUERY_BYTES);
	query_release(&query);
	memset(text, '&', MAX_QUERY_BYTES);
	ck_assert_int_eq(query_parse(text, MAX_QUERY_BYTES, &query, &refusal), -EINVAL);
	ck_assert_uint_eq(refusal.status, 400);
}
END_TEST

START_TEST(every_parameter_at_its_limit)
{
	static const char *const names[] = {"pid=1&",  "tid=1&",       "comm=1&",
	                                    "unit=1&", "container=1&", "pod=1&"};
	char text[8192] = "seconds=1&kernel=1&idle=1&children=1&python=raw&native=1&format=text&"
			  "by=line&sort=cum&rows=1&type=cpu";
	struct query query;
	struct refusal refusal = {0};
	struct profile_query profile;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t j = 0; j < MAX_QUERY_VALUES; j++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "&%.*s",
			         (int)strlen(names[i]) - 1, names[i]);
	ck_assert_int_eq(ask(text, &query, &profile, &refusal), 0);
	ck_assert_uint_eq(profile.ask.selection.pod_count, MAX_QUERY_VALUES);
	query_release(&query);
}
END_TEST

START_TEST(too_many_values)
{
	char text[1024] = "";
	struct query query;
	struct refusal refusal = {0};
	struct profile_query profile;

	for (size_t i = 0; i < MAX_QUERY_VALUES; i++)
		strcat(text, "pid=1&");
	ck_assert_int_eq(ask(text, &query, &profile, &refusal), 0);
	ck_assert_uint_eq(profile.ask.selection.pid_count, MAX_QUERY_VALUES);
	query_release(&query);
	strcat(text, "pid=1");
	ck_assert_int_eq(ask(text, &query, &profile, &refusal), -EINVAL);
	ck_assert_ptr_nonnull(strstr(refusal.text, "pid"));
	query_release(&query);
}
END_TEST

static const struct {
	const char *text;
	const char *says; /* part of the refusal; NULL: accepted */
} asked[] = {
	{"", NULL},
	{"seconds=1", NULL},
	{"seconds=600", NULL},
	{"seconds=0", "seconds=0"},
	{"seconds=601", "1 to 600"},
	{"seconds=-1", "seconds=-1"},
	{"seconds=1.5", "seconds=1.5"},
	{"seconds=1e1", "seconds"},
	{"seconds= 5", "seconds"},
	{"seconds=", "seconds"},
	{"seconds=18446744073709551617", "seconds"},
	{"seconds=5&seconds=5", "twice"},
	{"last=30s", NULL},
	{"last=10m", NULL},
	{"last=11m", "1s to 600s"},
	{"last=500ms", "last=500ms"},
	{"last=", "last"},
	{"last=abc", "last=abc"},
	{"last=1s&seconds=1", "exclude"},
	{"last=1s&from=1799999990", "exclude"},
	{"from=1799999990", NULL},
	{"from=1799999990.5&to=1799999995", NULL},
	{"from=2027-01-15T07:59:00Z&to=2027-01-15T07:59:30Z", NULL},
	{"from=2027-01-15T08:59:00+01:00", NULL},
	{"from=2027-01-15T08:59:00%2B01:00", NULL},
	{"from=1800000001", "future"},
	{"from=1799999990&to=1799999980", "before"},
	{"from=1799999990&to=1799999990", "before"},
	{"to=1799999990", "from="},
	{"from=yesterday", "RFC 3339"},
	{"from=1799999990&to=soon", "to=soon"},
	{"pid=1&pid=2&tid=3", NULL},
	{"pid=0", "pid=0"},
	{"pid=4194305", "4194304"},
	{"pid=abc", "pid=abc"},
	{"pid=", "pid"},
	{"tid=1x", "tid=1x"},
	{"comm=nginx&comm=kworker/0:1", NULL},
	{"comm=", "comm"},
	{"unit=ssh.service&unit=a&container=0123&pod=x&pod=y", NULL},
	{"unit=", "bad unit=: the name of a systemd unit is accepted"},
	{"container=", "container"},
	{"pod=", "pod"},
	{"kernel=0&idle=1", NULL},
	{"kernel=2", "kernel=2"},
	{"idle=yes", "idle=yes"},
	{"python=raw", NULL},
	{"python=", "bad python=: raw is accepted"},
	{"python=1", "bad python=1: raw is accepted"},
	{"native=0", NULL},
	{"native=1&python=raw", NULL},
	{"native=0&python=raw", "exclude each other"},
	{"native=no", "native=no"},
	{"pid=7&children=1", NULL},
	{"children=0", NULL},
	{"children=1", "children=1 requires pid="},
	{"children=1&tid=7", "children=1 requires pid="},
	{"pid=7&children=2", "children=2"},
	{"format=folded", NULL},
	{"format=svg", "pprof, perfetto, folded, text is accepted; / in a browser"},
	{"format=speedscope", "opens pprof"},
	{"format=", "pprof"},
	{"sort=cum&rows=10&format=text", NULL},
	{"by=line&format=text", NULL},
	{"by=process&format=text", NULL},
	{"by=stack&format=text", "function, line, file, binary, process or thread"},
	{"by=&format=text", "bad by="},
	{"by=line", "by=line requires format=text; format=pprof has no rows"},
	{"by=function&format=folded", "format=folded"},
	{"sort=name", "flat or cum"},
	{"rows=-1", "rows=-1"},
	{"type=cpu", NULL},
	{"type=rss", NULL},
	{"type=mmap&format=folded", NULL},
	{"type=", "bad type=: one of cpu, rss, mmap"},
	{"type=gold", "one of cpu, rss, mmap"},
	{"type=wall", NULL},
	{"type=wall&idle=1", "idle=1 requires type=cpu; type=wall has no idle time"},
	{"type=rss&idle=1", "idle=1 requires type=cpu"},
	{"type=gpu_memory&idle=1", "idle=1 requires type=cpu"},
	{"type=gpu_launch&dims=1", NULL},
	{"type=gpu_kernel&dims=0", NULL},
	{"type=gpu_copy&dims=1", "dims=1 requires type=gpu_launch or gpu_kernel"},
	{"dims=1", "type=cpu has no grids"},
	{"type=gpu_launch&dims=yes", "dims=yes"},
	{"type=gpu", "gpu_memory, gpu_tensor"},
	{"type=heap", "one of cpu, rss, mmap, fault, offcpu, waker, block, gpu_memory"},
	{"second=5", "\"second\"; accepted here: seconds, last, from"},
	{"format=%0a%1b[31m", "format=??[31m"},
	{"x%ff=1", "\"x?\""},
};

START_TEST(asks)
{
	struct query query = {0};
	struct refusal refusal = {0};
	struct profile_query profile;
	int err = ask(asked[_i].text, &query, &profile, &refusal);

	if (asked[_i].says) {
		ck_assert_msg(err == -EINVAL, "%s: %d", asked[_i].text, err);
		ck_assert_uint_eq(refusal.status, 400);
		ck_assert_msg(strstr(refusal.text, asked[_i].says) != NULL, "%s: %s",
		              asked[_i].text, refusal.text);
	} else {
		ck_assert_msg(err == 0, "%s: %s", asked[_i].text, refusal.text);
		ck_assert_ptr_nonnull(profile.format.encoder);
	}
	query_release(&query);
}
END_TEST

START_TEST(reads_values)
{
	struct query query;
	struct refusal refusal;
	struct profile_query profile;

	ck_assert_int_eq(ask("", &query, &profile, &refusal), 0);
	ck_assert_int_eq(profile.ask.range, RANGE_NEXT);
	ck_assert_uint_eq(profile.ask.length_ns, 30 * NSEC_PER_SEC);
	ck_assert_str_eq(profile.format.encoder->name, "pprof");
	ck_assert(!profile.ask.selection.accounts);
	query_release(&query);

	ck_assert_int_eq(ask("format=folded", &query, &profile, &refusal), 0);
	ck_assert(profile.ask.selection.accounts);
	query_release(&query);

	ck_assert_int_eq(ask("last=90&pid=7&comm=a+b&kernel=0&idle=1&sort=cum&rows=5", &query,
	                     &profile, &refusal),
	                 0);
	ck_assert_int_eq(profile.ask.range, RANGE_LAST);
	ck_assert_uint_eq(profile.ask.length_ns, 90 * NSEC_PER_SEC);
	ck_assert_uint_eq(profile.ask.selection.pid_count, 1);
	ck_assert_uint_eq(profile.ask.selection.pids[0], 7);
	ck_assert_str_eq(profile.ask.selection.comms[0], "a b");
	ck_assert(profile.ask.selection.no_kernel && profile.ask.selection.idle);
	ck_assert_int_eq(profile.format.options.sort, SORT_CUM);
	ck_assert_uint_eq(profile.format.options.rows, 5);
	ck_assert_int_eq(profile.format.options.by, BY_function);
	ck_assert_int_eq(profile.ask.selection.loops, LOOPS_HIDDEN);
	ck_assert(!profile.ask.selection.children);
	query_release(&query);

	ck_assert_int_eq(ask("pid=7&children=1&python=raw", &query, &profile, &refusal), 0);
	ck_assert_int_eq(profile.ask.selection.loops, LOOPS_SHOWN);
	ck_assert(profile.ask.selection.children);
	query_release(&query);

	ck_assert_int_eq(ask("unit=a.service&unit=b&container=01%2f&pod=u&format=text&by=thread",
	                     &query, &profile, &refusal),
	                 0);
	ck_assert_uint_eq(profile.ask.selection.unit_count, 2);
	ck_assert_str_eq(profile.ask.selection.units[1], "b");
	ck_assert_uint_eq(profile.ask.selection.container_count, 1);
	ck_assert_str_eq(profile.ask.selection.containers[0], "01/");
	ck_assert_uint_eq(profile.ask.selection.pod_count, 1);
	ck_assert_str_eq(profile.ask.selection.pods[0], "u");
	ck_assert_int_eq(profile.format.options.by, BY_thread);
	query_release(&query);

	ck_assert_int_eq(ask("from=1799999990", &query, &profile, &refusal), 0);
	ck_assert_int_eq(profile.ask.range, RANGE_BETWEEN);
	ck_assert_uint_eq(profile.ask.from_unix_ns, 1799999990 * NSEC_PER_SEC);
	ck_assert_uint_eq(profile.ask.to_unix_ns, now_ns);
	query_release(&query);
}
END_TEST

/* A profile of memory in use needs no time in the request. A time that is given is respected. */
START_TEST(states_need_no_time)
{
	static const struct {
		const char *text;
		enum range_kind range;
		bool all;
	} cases[] = {
		{"type=gpu_memory", RANGE_LAST, true},
		{"type=gpu_tensor&pid=7", RANGE_LAST, true},
		{"type=gpu_memory&seconds=3", RANGE_NEXT, false},
		{"type=gpu_memory&last=3s", RANGE_LAST, false},
		{"type=gpu_memory&from=1", RANGE_BETWEEN, false},
		{"type=gpu_launch", RANGE_NEXT, false},
		{"type=cpu", RANGE_NEXT, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct query query;
		struct refusal refusal = {0};
		struct profile_query profile;

		ck_assert_int_eq(ask(cases[i].text, &query, &profile, &refusal), 0);
		ck_assert_int_eq(profile.ask.range, cases[i].range);
		ck_assert_int_eq(profile.ask.all, cases[i].all);
		if (profile.ask.all)
			ck_assert_uint_eq(profile.ask.length_ns, kept.keep_ns);
		query_release(&query);
	}
}
END_TEST

Suite *query_suite(void)
{
	Suite *suite = suite_create("query");
	TCase *tests = tcase_create("query");

	tcase_add_loop_test(tests, decodes, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tests, refuses_bad_escapes, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tests, refuses_nul);
	tcase_add_test(tests, bounds);
	tcase_add_test(tests, every_parameter_at_its_limit);
	tcase_add_test(tests, too_many_values);
	tcase_add_loop_test(tests, asks, 0, sizeof(asked) / sizeof(asked[0]));
	tcase_add_test(tests, reads_values);
	tcase_add_test(tests, states_need_no_time);
	suite_add_tcase(suite, tests);
	return suite;
}
