/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How /heap reads its query, and what its answers say about themselves.
 */
#include "api/heap_query.h"

#include "base/clock.h"
#include "capture/heap_comments.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

static int ask(const char *text, struct heap_query *ret_heap, struct refusal *refusal)
{
	_cleanup_(query_release) struct query query = {0};
	int err = query_parse(text, strlen(text), &query, refusal);

	if (!err)
		err = query_check(&query, heap_parameters, refusal);
	if (!err)
		err = heap_query_read(&query, MAX_CAPTURE_SECONDS, ret_heap, refusal);
	return err;
}

static const struct {
	const char *text;
	const char *says; /* a part of the refusal; NULL: accepted */
} asked[] = {
	{"pid=7", NULL},
	{"", "pid= is missing"},
	{"seconds=5", "pid= is missing"},
	{"pid=0", "bad pid=0: an integer from 1 to 4194304"},
	{"pid=4194305", "4194304"},
	{"pid=self", "pid=self"},
	{"pid=7&pid=8", "pid is given twice"},
	{"pid=7&seconds=1", NULL},
	{"pid=7&seconds=600", NULL},
	{"pid=7&seconds=0", "1 to 600"},
	{"pid=7&seconds=601", "1 to 600"},
	{"pid=7&seconds=0.5", "seconds=0.5"},
	{"pid=7&rate=1", NULL},
	{"pid=7&rate=64KiB", NULL},
	{"pid=7&rate=1GiB", NULL},
	{"pid=7&rate=0", "bad rate=0: a size from 1 to 1GiB, such as 64KiB, is accepted"},
	{"pid=7&rate=2GiB", "rate=2GiB"},
	{"pid=7&rate=64KB", "rate=64KB"},
	{"pid=7&rate=", "rate="},
	{"pid=7&budget=0.1", NULL},
	{"pid=7&budget=1", NULL},
	{"pid=7&budget=0.001", NULL},
	{"pid=7&budget=0.1%25", NULL},
	{"pid=7&budget=12.5%25", NULL},
	{"pid=7&budget=10000%25", NULL},
	{"pid=7&budget=10", "a share of one core from 0.001 to 1, or a percentage"},
	{"pid=7&budget=1.01", "budget=1.01"},
	{"pid=7&budget=0", "budget=0"},
	{"pid=7&budget=0.0009", "0.001"},
	{"pid=7&budget=10001%25", "10000%"},
	{"pid=7&budget=1e-1", "budget=1e-1"},
	{"pid=7&budget=.1", "budget=.1"},
	{"pid=7&budget=0.", "budget=0."},
	{"pid=7&budget=-1", "budget=-1"},
	{"pid=7&budget=nan", "budget=nan"},
	{"pid=7&budget=10%25%25", "budget=10%%"},
	{"pid=7&budget=0.10000000000000000001", "budget="},
	{"pid=7&budget=99999999999999999999%25", "budget="},
	{"pid=7&force=1", NULL},
	{"pid=7&force=yes", "force=yes"},
	{"pid=7&leaks=1", NULL},
	{"pid=7&peak=1&leaks=0", NULL},
	{"pid=7&leaks=1&peak=1", "leaks=1 and peak=1 exclude each other"},
	{"pid=7&leaks=2", "leaks=2"},
	{"pid=7&format=folded", NULL},
	{"pid=7&format=text&by=line&sort=cum&rows=3", NULL},
	{"pid=7&by=line", "by=line requires format=text"},
	{"pid=7&format=svg", "pprof, perfetto, folded, text"},
	{"pid=7&last=5m",
         "accepted here: pid, seconds, rate, leaks, peak, budget, force, raw, native, format"},
};

START_TEST(asks)
{
	struct refusal refusal = {0};
	struct heap_query heap;
	int err = ask(asked[_i].text, &heap, &refusal);

	if (!asked[_i].says) {
		ck_assert_msg(err == 0, "%s: %s", asked[_i].text, refusal.text);
		ck_assert_uint_eq(heap.ask.pid, 7);
		ck_assert_ptr_nonnull(heap.format.encoder);
		return;
	}
	ck_assert_msg(err == -EINVAL, "%s: %d", asked[_i].text, err);
	ck_assert_uint_eq(refusal.status, 400);
	ck_assert_msg(strstr(refusal.text, asked[_i].says) != NULL, "%s: %s", asked[_i].text,
	              refusal.text);
}
END_TEST

START_TEST(defaults)
{
	struct refusal refusal;
	struct heap_query heap;

	ck_assert_int_eq(ask("pid=7", &heap, &refusal), 0);
	ck_assert_uint_eq(heap.ask.length_ns, 30 * NSEC_PER_SEC);
	ck_assert_uint_eq(heap.ask.rate_bytes, 512 * 1024);
	ck_assert_double_eq_tol(heap.ask.budget, 0.10, 1e-9);
	ck_assert(!heap.ask.force && !heap.watch);
	ck_assert_int_eq(heap.ask.mode, HEAP_ALL);
	ck_assert_str_eq(heap.format.encoder->name, "pprof");
}
END_TEST

START_TEST(values)
{
	struct refusal refusal;
	struct heap_query heap;

	ck_assert_int_eq(ask("pid=7&seconds=5&rate=4KiB&budget=12.5%25&force=1&leaks=1&format=text&"
	                     "rows=9",
	                     &heap, &refusal),
	                 0);
	ck_assert_uint_eq(heap.ask.length_ns, 5 * NSEC_PER_SEC);
	ck_assert_uint_eq(heap.ask.rate_bytes, 4096);
	ck_assert_double_eq_tol(heap.ask.budget, 0.125, 1e-9);
	ck_assert(heap.ask.force && heap.watch && !heap.raw);
	ck_assert_int_eq(heap.ask.mode, HEAP_LEAKS);
	ck_assert_uint_eq(heap.format.options.rows, 9);

	ck_assert_int_eq(ask("pid=7&raw=1", &heap, &refusal), 0);
	ck_assert(heap.raw && !heap.watch);
	ck_assert_int_eq(ask("pid=7&budget=0.025&peak=1", &heap, &refusal), 0);
	ck_assert_double_eq_tol(heap.ask.budget, 0.025, 1e-9);
	ck_assert_int_eq(heap.ask.mode, HEAP_PEAK);
	ck_assert(heap.watch);
}
END_TEST

/* The allocations that a process reports itself suffice, unless the query asks for something that
 * only probes can do. */
START_TEST(asks_for_probes)
{
	static const char *const with[] = {"pid=7&seconds=1", "pid=7&rate=1", "pid=7&budget=1",
	                                   "pid=7&force=0"};
	static const char *const without[] = {"pid=7&leaks=1", "pid=7&peak=1", "pid=7&format=text"};
	struct refusal refusal;
	struct heap_query heap;

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		ck_assert_int_eq(ask(with[i], &heap, &refusal), 0);
		ck_assert(heap.watch);
	}
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		ck_assert_int_eq(ask(without[i], &heap, &refusal), 0);
		ck_assert(!heap.watch);
	}
}
END_TEST

static struct profile *described(const struct heap_facts *facts)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile *profile = NULL;

	builder_value_type(builder, "inuse_space", "bytes");
	builder_time(builder, 0, 1800000000 * NSEC_PER_SEC, 2 * NSEC_PER_SEC);
	heap_describe(builder, facts);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

static bool says(const struct profile *profile, const char *comment)
{
	for (uint32_t i = 0; i < profile->comment_count; i++)
		if (!strcmp(profile_string(profile, profile->comments[i]), comment))
			return true;
	return false;
}

START_TEST(describes_what_was_watched)
{
	struct heap_ask ask = {.pid = 7, .mode = HEAP_LEAKS, .length_ns = 5 * NSEC_PER_SEC};
	struct heap_figures figures = {
		.allocator = "jemalloc",
		.file = "/usr/lib/libjemalloc.so.2",
		.sites = 21,
		.rate_bytes = 4096,
		.watched_ns = 2 * NSEC_PER_SEC,
		.hits_per_second = 10400.4,
		.hits = 22400,
		.ns_per_hit = 520,
		.predicted_cost = 0.0054,
		.actual_cost = 0.0061,
		.samples = 900,
		.freed = 300,
		.dropped = 2,
		.end = HEAP_END_exit,
		.end_text = "the process ended",
	};
	struct heap_facts facts = {.ask = &ask, .figures = &figures};
	_cleanup_(profile_unrefp) struct profile *profile = described(&facts);

	ck_assert(says(profile, "pid=7"));
	ck_assert(says(profile, "allocator=jemalloc in /usr/lib/libjemalloc.so.2, 21 probes"));
	ck_assert(says(profile, "rate_bytes=4096"));
	ck_assert(says(profile, "shows=leaks: allocations in the first half of this time that are "
	                        "in use at its end"));
	ck_assert(says(profile, "covers=2027-01-15T08:00:00.000Z..2027-01-15T08:00:02.000Z"));
	ck_assert(says(profile, "sampled=900 freed=300 lost=2"));
	ck_assert(says(profile, "ended early: 2.0 of 5.0 s: the process ended"));
	ck_assert(says(profile, "calls=10400 a second before and 11200 meanwhile, 520 ns each: the "
	                        "probes cost 0.61 % of a core; the prediction was 0.54 %"));
	ck_assert_str_eq(profile_incomplete(profile),
	                 "2 of 902 samples were lost for lack of room: sums are too small; a "
	                 "larger rate= takes fewer samples");
}
END_TEST

START_TEST(describes_what_was_told)
{
	struct heap_ask ask = {.pid = 7};
	struct heap_figures figures = {.samples = 3, .file = "/opt/app", .end_text = ""};
	struct heap_facts facts = {.ask = &ask, .figures = &figures, .standing = true};
	_cleanup_(profile_unrefp) struct profile *profile = described(&facts);

	ck_assert(says(profile, "allocator=sampled by the process itself in /opt/app"));
	ck_assert(says(profile, "sampled=3 freed=0 lost=0"));
	ck_assert_ptr_null(profile_incomplete(profile));
	for (uint32_t i = 1; i < profile->comment_count; i++) {
		const char *comment = profile_string(profile, profile->comments[i]);

		ck_assert(!strstr(comment, "calls=") && !strstr(comment, "rate_bytes="));
	}
}
END_TEST

Suite *heap_query_suite(void)
{
	Suite *suite = suite_create("heap_query");
	TCase *tests = tcase_create("heap_query");

	tcase_add_loop_test(tests, asks, 0, sizeof(asked) / sizeof(asked[0]));
	tcase_add_test(tests, defaults);
	tcase_add_test(tests, values);
	tcase_add_test(tests, asks_for_probes);
	tcase_add_test(tests, describes_what_was_watched);
	tcase_add_test(tests, describes_what_was_told);
	suite_add_tcase(suite, tests);
	return suite;
}
