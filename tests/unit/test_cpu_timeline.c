/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU timelines: what a client can ask for, which rows are shown, and that no time is lost or
 * counted twice. Times are small numbers here; a step is 10.
 */
#include "base/clock.h"
#include "profile/builder.h"
#include "tests/unit/suites.h"
#include "views/cpu_timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct use {
	uint32_t pid, tid;
	const char *comm, *thread;
	uint64_t ns;
};

static struct profile *slice(uint64_t start, uint64_t length, const struct use *uses, size_t count)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint32_t node = builder_node(builder, 0, builder_location(builder, 0, 1));
	struct profile *profile = NULL;

	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "cpu", "nanoseconds");
	builder_time(builder, start, start, length);
	for (size_t i = 0; i < count; i++) {
		struct task task = {.pid = uses[i].pid,
		                    .tid = uses[i].tid,
		                    .comm = builder_text(builder, uses[i].comm),
		                    .thread = builder_text(builder, uses[i].thread)};

		builder_sample(builder, node, builder_task(builder, &task),
		               (uint64_t[PROFILE_VALUES]){1, uses[i].ns});
	}
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

/* Process a uses 7 in [100, 110) and 30 in [105, 135). Process b, with two threads, uses 5 in the
 * first slice; c uses 1 in the second. */
static struct profile *slices[2];

static void make_slices(void)
{
	static const struct use first[] = {
		{1, 1, "a", "main", 7}, {2, 2, "b", "main", 2}, {2, 3, "b", "worker", 3}};
	static const struct use second[] = {{1, 1, "renamed", "main", 30}, {3, 3, "c", "c", 1}};

	slices[0] = slice(100, 10, first, 3);
	slices[1] = slice(105, 30, second, 2);
}

static void free_slices(void)
{
	profile_unref(slices[0]);
	profile_unref(slices[1]);
}

static struct cpu_timeline built(uint32_t pid, uint32_t top, uint64_t from, size_t steps)
{
	struct cpu_timeline_query ask = {.pid = pid, .top = top};
	struct cpu_timeline_span span = {.from_mono_ns = from, .step_ns = 10, .steps = steps};
	struct cpu_timeline timeline;

	ck_assert_int_eq(cpu_timeline_build(&ask, &span, slices, 2, &timeline), 0);
	return timeline;
}

static uint64_t sum(const uint64_t *numbers, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += numbers[i];
	return total;
}

START_TEST(spreads_over_steps)
{
	struct cpu_timeline timeline = built(0, 10, 90, 6);

	ck_assert_uint_eq(timeline.count, 3);
	ck_assert_uint_eq(timeline.rows[0].pid, 1);
	ck_assert_uint_eq(timeline.rows[0].tid, 0);
	ck_assert_str_eq(timeline.rows[0].name, "renamed");
	ck_assert_uint_eq(timeline.rows[0].total, 37);
	ck_assert_uint_eq(timeline.rows[0].cpu[0], 0);
	ck_assert_uint_eq(timeline.rows[0].cpu[1], 7 + 5);
	ck_assert_uint_eq(timeline.rows[0].cpu[2], 10);
	ck_assert_uint_eq(timeline.rows[0].cpu[3], 10);
	ck_assert_uint_eq(timeline.rows[0].cpu[4], 5);
	ck_assert_uint_eq(timeline.rows[0].cpu[5], 0);
	ck_assert_uint_eq(timeline.rows[1].pid, 2);
	ck_assert_uint_eq(timeline.rows[1].cpu[1], 5);
	ck_assert_uint_eq(timeline.rows[2].pid, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(sum(timeline.rows[i].cpu, 6), timeline.rows[i].total);
	ck_assert_uint_eq(sum(timeline.other, 6), 0);
	cpu_timeline_release(&timeline);
}
END_TEST

START_TEST(adds_up_the_others)
{
	struct cpu_timeline timeline = built(0, 1, 90, 6);

	ck_assert_uint_eq(timeline.count, 1);
	ck_assert_uint_eq(timeline.rows[0].total, 37);
	ck_assert_uint_eq(timeline.other[1], 5);
	ck_assert_uint_eq(sum(timeline.other, 6), 6);
	cpu_timeline_release(&timeline);
}
END_TEST

START_TEST(leaves_out_what_is_outside)
{
	struct cpu_timeline timeline = built(0, 10, 110, 1);

	/* A third of the second slice is inside: 10 of a's 30. A third of c's 1 is rounded to 0. */
	ck_assert_uint_eq(timeline.count, 1);
	ck_assert_uint_eq(timeline.rows[0].total, 10);
	ck_assert_uint_eq(timeline.rows[0].cpu[0], 10);
	cpu_timeline_release(&timeline);

	timeline = built(0, 10, 1000, 3);
	ck_assert_uint_eq(timeline.count, 0);
	ck_assert_uint_eq(sum(timeline.other, 3), 0);
	cpu_timeline_release(&timeline);
}
END_TEST

START_TEST(shows_threads)
{
	struct cpu_timeline timeline = built(2, 10, 100, 1);

	ck_assert_uint_eq(timeline.count, 2);
	ck_assert_uint_eq(timeline.rows[0].tid, 3);
	ck_assert_str_eq(timeline.rows[0].name, "worker");
	ck_assert_uint_eq(timeline.rows[0].cpu[0], 3);
	ck_assert_uint_eq(timeline.rows[1].tid, 2);
	cpu_timeline_release(&timeline);
}
END_TEST

static const struct {
	const char *query, *says; /* says: a part of the refusal; NULL: accepted */
} queries[] = {
	{"", NULL},
	{"last=5m&step=500ms&pid=7&top=100", NULL},
	{"last=9h", NULL}, /* less is kept, and the answer says so */
	{"last=0", "bad last="},
	{"last=x", "bad last=x: a duration"},
	{"step=99ms", "at least 100ms"},
	{"last=10m&step=500ms",
         "1200 steps are accepted; last=600 requires steps of 501ms or more"},
	{"last=10m&step=501ms", NULL},
	{"last=10s&step=10s", NULL},
	{"last=10s&step=11s", "bad step=11s: a duration from 100ms to the whole time, 10s,"},
	{"step=1h", "bad step=1h"},
	{"pid=0", "bad pid=0"},
	{"pid=4194305", "bad pid=4194305"},
	{"top=0", "bad top=0"},
	{"top=101", "from 1 to 100"},
};

START_TEST(reads_queries)
{
	const char *text = queries[_i].query;
	struct cpu_timeline_query ask;
	struct refusal refusal;
	struct query query;
	int err;

	ck_assert_int_eq(query_parse(text, strlen(text), &query, &refusal), 0);
	ck_assert_int_eq(query_check(&query, cpu_timeline_parameters, &refusal), 0);
	err = cpu_timeline_query_read(&query, 600 * NSEC_PER_SEC, &ask, &refusal);
	if (queries[_i].says) {
		ck_assert_int_eq(err, -EINVAL);
		ck_assert_uint_eq(refusal.status, 400);
		ck_assert_msg(strstr(refusal.text, queries[_i].says) != NULL, "%s", refusal.text);
	} else {
		ck_assert_int_eq(err, 0);
		ck_assert_uint_le(ask.length_ns, 600 * NSEC_PER_SEC);
		ck_assert_uint_ge(ask.top, 1);
	}
	query_release(&query);
}
END_TEST

Suite *cpu_timeline_suite(void)
{
	Suite *suite = suite_create("cpu_timeline");
	TCase *tests = tcase_create("timeline");

	tcase_add_checked_fixture(tests, make_slices, free_slices);
	tcase_add_test(tests, spreads_over_steps);
	tcase_add_test(tests, adds_up_the_others);
	tcase_add_test(tests, leaves_out_what_is_outside);
	tcase_add_test(tests, shows_threads);
	tcase_add_loop_test(tests, reads_queries, 0, sizeof(queries) / sizeof(queries[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
