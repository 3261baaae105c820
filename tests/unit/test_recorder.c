/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Windows, holds, limits and ranges of the recorder. Times are in seconds here.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "profile/builder.h"
#include "profile/recorder.h"

enum { SLICES = 10000 };

static const struct recorder_limits ample = {
	.window_ns = 10 * NSEC_PER_SEC, .keep_ns = 600 * NSEC_PER_SEC, .max_bytes = 1 << 30};

static void add(struct recorder *recorder, double start, double end)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct task task = {.pid = 1};
	uint64_t start_ns = (uint64_t)(start * NSEC_PER_SEC);
	struct profile *slice = NULL;

	builder_time(builder, start_ns, start_ns, (uint64_t)(end * NSEC_PER_SEC) - start_ns);
	builder_value_type(builder, "samples", "count");
	builder_sample(builder, builder_node(builder, 0, builder_location(builder, 0, 1)),
	               builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	ck_assert_int_eq(builder_seal(builder, &slice), 0);
	ck_assert_int_eq(recorder_add(recorder, slice), 0);
}

static struct recorder *filled(const struct recorder_limits *limits, int seconds)
{
	struct recorder *recorder = recorder_new(limits);

	for (int i = 0; i < seconds; i++)
		add(recorder, i, i + 1);
	return recorder;
}

static struct recorder_stats stats_of(const struct recorder *recorder)
{
	struct recorder_stats stats;

	recorder_get_stats(recorder, &stats);
	return stats;
}

/* The number of seconds whose samples a range contains. */
static uint64_t read_count(struct recorder *recorder, double from, double to)
{
	_cleanup_(slices_release) struct slices slices;
	uint64_t total = 0;

	ck_assert_int_eq(recorder_read(recorder, (uint64_t)(from * NSEC_PER_SEC),
	                               (uint64_t)(to * NSEC_PER_SEC), &slices),
	                 0);
	for (size_t i = 0; i < slices.count; i++)
		total += slices.profiles[i]->samples[1].values[0];
	return total;
}

START_TEST(merges_windows_that_are_over)
{
	_cleanup_(recorder_freep) struct recorder *recorder = filled(&ample, 9);

	ck_assert_uint_eq(stats_of(recorder).slices, 9);
	add(recorder, 9, 10);
	ck_assert_uint_eq(stats_of(recorder).slices, 1);
	add(recorder, 10, 19.5);
	add(recorder, 19.5, 20.5);
	ck_assert_uint_eq(stats_of(recorder).slices, 2);
	ck_assert_uint_eq(read_count(recorder, 0, 30), 12);
	ck_assert_uint_eq(stats_of(recorder).oldest_mono_ns, 0);
}
END_TEST

START_TEST(hold_keeps_a_boundary)
{
	_cleanup_(recorder_freep) struct recorder *recorder = filled(&ample, 5);

	ck_assert_int_eq(recorder_hold(recorder, 5 * NSEC_PER_SEC), 0);
	ck_assert_int_eq(recorder_hold(recorder, 5 * NSEC_PER_SEC), 0);
	for (int i = 5; i < 25; i++)
		add(recorder, i, i + 1);
	ck_assert_uint_eq(stats_of(recorder).slices, 2 + 1 + 5);
	ck_assert_uint_eq(read_count(recorder, 5, 25), 20);
	recorder_unhold(recorder, 5 * NSEC_PER_SEC);
	add(recorder, 25, 26);
	ck_assert_uint_eq(stats_of(recorder).slices, 2 + 1 + 6);
	recorder_unhold(recorder, 7 * NSEC_PER_SEC);
	recorder_unhold(recorder, 5 * NSEC_PER_SEC);
	ck_assert_uint_eq(stats_of(recorder).slices, 2 + 1 + 6);
	add(recorder, 26, 27);
	ck_assert_uint_eq(stats_of(recorder).slices, 1 + 1 + 7);
}
END_TEST

START_TEST(hold_at_the_edge_merges)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&ample);

	ck_assert_int_eq(recorder_hold(recorder, 0), 0);
	ck_assert_int_eq(recorder_hold(recorder, 10 * NSEC_PER_SEC), 0);
	for (int i = 0; i < 10; i++)
		add(recorder, i, i + 1);
	ck_assert_uint_eq(stats_of(recorder).slices, 1);
}
END_TEST

static const struct {
	double from, to;
	uint64_t count;
} ranges[] = {
	{0, 13, 13},   {10, 13, 3}, {11, 12, 1},     {11, 11, 0},     {12, 11, 0},  {13, 20, 0},
	{100, 200, 0}, {0, 10, 10}, {0, 6, 10},      {0, 4, 10},      {5, 10, 10},  {0, 5, 10},
	{6, 13, 13},   {4, 13, 13}, {11.4, 12.4, 1}, {11.2, 11.3, 1}, {0, 1e9, 13},
};

START_TEST(reads_ranges)
{
	_cleanup_(recorder_freep) struct recorder *recorder = filled(&ample, 13);

	ck_assert_uint_eq(read_count(recorder, ranges[_i].from, ranges[_i].to), ranges[_i].count);
}
END_TEST

START_TEST(the_latest_past_stays_fine)
{
	struct recorder_limits limits = ample;
	_cleanup_(recorder_freep) struct recorder *recorder = NULL;

	limits.fine_ns = 20 * NSEC_PER_SEC;
	recorder = filled(&limits, 41);
	/* Two windows are old enough to be merged; 21 slices are newer. */
	ck_assert_uint_eq(stats_of(recorder).slices, 2 + 21);
	ck_assert_uint_eq(read_count(recorder, 36, 41), 5);
	ck_assert_uint_eq(read_count(recorder, 0, 41), 41);
}
END_TEST

START_TEST(expires)
{
	struct recorder_limits limits = {
		.window_ns = 10 * NSEC_PER_SEC, .keep_ns = 30 * NSEC_PER_SEC, .max_bytes = 1 << 30};
	_cleanup_(recorder_freep) struct recorder *recorder = filled(&limits, 40);

	ck_assert_uint_eq(read_count(recorder, 0, 100), 40);
	add(recorder, 40, 41);
	ck_assert_uint_eq(read_count(recorder, 0, 100), 31);
	ck_assert_uint_eq(stats_of(recorder).oldest_mono_ns, 10 * NSEC_PER_SEC);
	ck_assert_uint_eq(stats_of(recorder).windows_evicted, 0);
	add(recorder, 4000, 4001);
	ck_assert_uint_eq(stats_of(recorder).slices, 1);
}
END_TEST

START_TEST(evicts_the_oldest)
{
	_cleanup_(recorder_freep) struct recorder *probe = filled(&ample, 1);
	struct recorder_limits limits = {.window_ns = 10 * NSEC_PER_SEC,
	                                 .keep_ns = 600 * NSEC_PER_SEC,
	                                 .max_bytes = 20 * stats_of(probe).bytes};
	_cleanup_(recorder_freep) struct recorder *recorder = filled(&limits, 100);

	ck_assert_uint_eq(stats_of(recorder).windows_evicted, 0);
	for (int i = 100; i < 200; i++)
		add(recorder, i, i + 1);
	ck_assert_uint_gt(stats_of(recorder).windows_evicted, 0);
	ck_assert_uint_eq(stats_of(recorder).samples_evicted, 200 - read_count(recorder, 0, 1000));
	ck_assert_uint_eq(stats_of(recorder).samples_evicted,
	                  10 * stats_of(recorder).windows_evicted);
	ck_assert_uint_le(stats_of(recorder).bytes, limits.max_bytes);
}
END_TEST

START_TEST(newest_slice_stays)
{
	struct recorder_limits limits = {
		.window_ns = 10 * NSEC_PER_SEC, .keep_ns = 600 * NSEC_PER_SEC, .max_bytes = 1};
	_cleanup_(recorder_freep) struct recorder *recorder = filled(&limits, 15);

	ck_assert_uint_eq(stats_of(recorder).slices, 1);
	ck_assert_uint_eq(stats_of(recorder).windows_evicted, 2);
	ck_assert_uint_eq(stats_of(recorder).samples_evicted, 14);
}
END_TEST

START_TEST(a_reader_keeps_its_slices)
{
	struct recorder *recorder = filled(&ample, 3);
	_cleanup_(slices_release) struct slices slices;

	ck_assert_int_eq(recorder_read(recorder, 0, 3 * NSEC_PER_SEC, &slices), 0);
	recorder_free(recorder);
	ck_assert_uint_eq(slices.count, 3);
	ck_assert_uint_eq(slices.profiles[2]->start_mono_ns, 2 * NSEC_PER_SEC);
}
END_TEST

START_TEST(many_slices)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&ample);

	ck_assert_int_eq(recorder_hold(recorder, 1), 0);
	for (int i = 0; i < SLICES; i++)
		add(recorder, i * 0.001, (i + 1) * 0.001);
	ck_assert_uint_eq(stats_of(recorder).slices, 2);
	recorder_unhold(recorder, 1);
	add(recorder, 10, 10.001);
	ck_assert_uint_eq(stats_of(recorder).slices, 1 + 1);
	ck_assert_uint_eq(read_count(recorder, 0, 10), SLICES);
}
END_TEST

Suite *recorder_suite(void)
{
	Suite *suite = suite_create("recorder");
	TCase *tests = tcase_create("recorder");

	tcase_add_test(tests, merges_windows_that_are_over);
	tcase_add_test(tests, hold_keeps_a_boundary);
	tcase_add_test(tests, hold_at_the_edge_merges);
	tcase_add_loop_test(tests, reads_ranges, 0, sizeof(ranges) / sizeof(*ranges));
	tcase_add_test(tests, the_latest_past_stays_fine);
	tcase_add_test(tests, expires);
	tcase_add_test(tests, evicts_the_oldest);
	tcase_add_test(tests, newest_slice_stays);
	tcase_add_test(tests, a_reader_keeps_its_slices);
	tcase_add_test(tests, many_slices);
	suite_add_tcase(suite, tests);
	return suite;
}
