/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Series of figures, their floors, the line through the floors, and what is judged to be a leak.
 * How often the judgement is right for noisy shapes is in test_growth_shapes.c.
 */
#include "tests/unit/often.h"
#include "tests/unit/suites.h"

#include "memory/growth.h"
#include "memory/series.h"
#include "memory/trend.h"

#include <math.h>
#include <stdlib.h>

#define MIB (1024.0 * 1024.0)

enum { START_MS = 1 << 30 };

static struct series_point point_at(uint64_t ms, double mib)
{
	struct series_point point = {.ms = ms};

	point.figures.values[MEMORY_rss_anon] = (uint64_t)(mib * MIB) & ~4095ULL;
	point.figures.values[MEMORY_heap_inuse] = MEMORY_UNKNOWN;
	return point;
}

START_TEST(a_series_gives_back_what_it_was_given)
{
	struct series series = {0};
	struct series_point given[500], got;
	struct series_cursor cursor;

	srand(7);
	for (size_t i = 0; i < 500; i++) {
		given[i] = point_at(1000 * i + (uint64_t)(rand() % 900), rand() % 4000);
		given[i].figures.values[MEMORY_swap] = (uint64_t)rand() / 1024 * 1024;
		if (rand() % 3)
			given[i].figures.values[MEMORY_heap_inuse] = 1024 * i;
		ck_assert_int_eq(series_add(&series, &given[i]), 0);
	}
	ck_assert_uint_eq(series.count, 500);
	series_expire(&series, given[100].ms);
	ck_assert_uint_eq(series.count, 400);
	cursor = series_begin(&series);
	for (size_t i = 100; i < 500; i++) {
		ck_assert(series_next(&cursor, &got));
		ck_assert_mem_eq(&got, &given[i], sizeof(got));
	}
	ck_assert(!series_next(&cursor, &got));
	series_release(&series);
}
END_TEST

START_TEST(a_series_keeps_what_changes)
{
	struct series series = {0};
	struct series_point point;

	for (uint64_t s = 0; s < 600; s++) {
		point = point_at(s * 1000, 10);
		series_add(&series, &point);
	}
	ck_assert_uint_eq(series.count, 1);
	ck_assert_uint_eq(series_bytes(&series), 0);
	for (uint64_t s = 600; s < 1200; s++) {
		point = point_at(s * 1000, (double)s);
		series_add(&series, &point);
	}
	ck_assert_uint_eq(series.count, 601);
	ck_assert_uint_lt(series_bytes(&series), 601 * 10);
	/* The point whose values held at that moment stays, although it is earlier. */
	series_expire(&series, 599 * 1000);
	ck_assert_uint_eq(series.count, 601);
	series_expire(&series, UINT64_MAX);
	ck_assert_uint_eq(series.count, 1);
	ck_assert_uint_eq(series.first.ms, 1199 * 1000);
	ck_assert_uint_eq(series_bytes(&series), 0);
	series_release(&series);
}
END_TEST

START_TEST(a_series_that_rolls_stays_small)
{
	struct series series = {0};

	for (uint64_t s = 0; s < 100000; s++) {
		struct series_point point = point_at(s * 1000, (double)(s % 97));

		ASSERT_OFTEN(series_add(&series, &point) == 0);
		series_expire(&series, s > 600 ? (s - 600) * 1000 : 0);
	}
	ck_assert_uint_eq(series.count, 601);
	ck_assert_uint_lt(series_bytes(&series), 601 * 20);
	series_release(&series);
}
END_TEST

typedef double shape_fn(double second);

/* Judges growth whenever a part is over, as a timeline does. Returns the last judgement. */
static struct growth judge(shape_fn *shape, unsigned int seconds)
{
	struct growth growth = {0};
	struct floors floors;
	uint64_t due_ms = 0;

	floors_begin(&floors, 0, START_MS, (uint64_t)(shape(0) * MIB));
	for (unsigned int s = 1; s <= seconds; s++) {
		uint64_t ms = START_MS + s * 1000ULL;

		floors_add(&floors, ms, (uint64_t)(shape(s) * MIB), false);
		if (ms < due_ms)
			continue;
		due_ms = floors_next_end(&floors, ms);
		growth_judge(&floors, 0, &growth);
	}
	return growth;
}

static double leak(double s)
{
	return 40 + s;
}

static double leak_after_long_rest(double s)
{
	return s < 1000 ? 200 : 200 + 2 * (s - 1000);
}

static double falling(double s)
{
	return 3000 - s;
}

static double too_little(double s)
{
	return 4000 + s / 100;
}

static double two_steps(double s)
{
	return 100 + (s > 150 ? 100 : 0) + (s > 290 ? 100 : 0);
}

/* Memory is held for an hour and given back: growth up to that amount again is no leak. */
static double comes_back(double s)
{
	return s < 3600 ? 1000 : s < 5000 ? 300 : 300 + 0.3 * (s - 5000);
}

static double is_given_back(double s)
{
	return s < 600 ? 40 + s : 40;
}

static double stops(double s)
{
	return s < 600 ? 40 + s : 640;
}

START_TEST(leaks_are_found)
{
	struct growth growth = judge(leak, 600);

	ck_assert(!judge(leak, 255).leaking);
	ck_assert(judge(leak, 280).leaking);
	ck_assert(growth.leaking);
	ck_assert_double_eq_tol((double)growth.bytes_per_second, MIB, 0.02 * MIB);
	ck_assert_uint_le(growth.low_bytes_per_second, growth.bytes_per_second);
	ck_assert_uint_ge(growth.high_bytes_per_second, growth.bytes_per_second);
	/* The longest window that is known covers at least half of the time. */
	ck_assert_uint_le(growth.since_ms, START_MS + 300 * 1000);
}
END_TEST

START_TEST(a_leak_is_found_after_a_rest)
{
	struct growth growth = judge(leak_after_long_rest, 1200);

	ck_assert(!judge(leak_after_long_rest, 1000).leaking);
	ck_assert(growth.leaking);
	ck_assert_uint_ge(growth.since_ms, START_MS + 900 * 1000);
	ck_assert_double_eq_tol((double)growth.bytes_per_second, 2 * MIB, 0.1 * MIB);
}
END_TEST

START_TEST(what_is_no_leak)
{
	static shape_fn *const shapes[] = {falling, too_little, two_steps};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned int seconds = 200; seconds < 1500; seconds += 50)
			ck_assert(!judge(shapes[i], seconds).leaking);
}
END_TEST

START_TEST(growth_counts_above_what_was_held_for_long)
{
	ck_assert(!judge(comes_back, 7200).leaking);
	ck_assert(judge(comes_back, 9600).leaking);
}
END_TEST

START_TEST(what_stops_is_cleared)
{
	ck_assert(judge(stops, 620).leaking);
	ck_assert(!judge(stops, 900).leaking);
	/* Memory that is all given back soon is no leak either. */
	ck_assert(!judge(is_given_back, 640).leaking);
}
END_TEST

START_TEST(what_it_may_have_had_is_no_growth)
{
	struct growth growth = {0};
	struct floors floors;

	floors_begin(&floors, 0, START_MS, 0);
	for (uint64_t s = 1; s <= 400; s++)
		floors_add(&floors, START_MS + s * 1000, (uint64_t)(s * MIB), false);
	growth_judge(&floors, (uint64_t)(390 * MIB), &growth);
	ck_assert(!growth.leaking);
	growth_judge(&floors, (uint64_t)(200 * MIB), &growth);
	ck_assert(growth.leaking);
}
END_TEST

START_TEST(nothing_is_no_leak)
{
	struct growth growth = {0};
	struct floors floors;

	floors_begin(&floors, 0, START_MS, 0);
	growth_judge(&floors, 0, &growth);
	ck_assert(!growth.leaking);
}
END_TEST

START_TEST(floors_are_the_least_of_each_part)
{
	struct floors_window window;
	struct floors floors;

	floors_begin(&floors, 0, 0, 1 << 30);
	for (uint64_t s = 1; s <= 300; s++)
		floors_add(&floors, s * 1000, ((s % 7 ? 500 : 0) + s) << 10, false);
	for (int level = 0; level < 2; level++) {
		uint64_t part_ms = 8192ULL << level;

		ck_assert(floors_window(&floors, level, &window));
		ck_assert_uint_eq(window.end_ms, 300000 / part_ms * part_ms);
		ck_assert_uint_eq(window.end_ms - window.begin_ms, FLOORS_PARTS * part_ms);
		for (int i = 0; i < FLOORS_PARTS; i++) {
			uint64_t from = (window.begin_ms + i * part_ms + 999) / 1000;

			/* Every seventh value is low, and a value holds until the next one. */
			if (i || level == 0)
				ck_assert_uint_le(window.kib[i], (from + 6) / 7 * 7);
			ck_assert_uint_ge(window.kib[i], from - 1);
		}
	}
	ck_assert(!floors_window(&floors, 2, &window));
}
END_TEST

START_TEST(floors_of_a_rest_and_of_a_slope)
{
	struct floors_window window;
	struct floors floors;

	floors_begin(&floors, 0, 8192, 100 << 10);
	floors_add(&floors, 8192 * 10, 1000 << 10, true);
	/* A figure that rests, even for years, is not added part by part. */
	floors_hold(&floors, 8192 * 18);
	ck_assert(floors_window(&floors, 0, &window));
	for (uint32_t i = 1; i < FLOORS_PARTS; i++)
		ck_assert_uint_le(window.kib[i] - (i < 9 ? 100 * (i + 2) - 1 : 999), 1);
	floors_add(&floors, 1ULL << 50, 5 << 10, false);
	for (int level = 0; level < FLOORS_LEVELS; level++) {
		ck_assert(floors_window(&floors, level, &window));
		ck_assert_uint_eq(window.kib[0], 1000);
		ck_assert_uint_eq(window.kib[FLOORS_PARTS - 1], 1000);
	}
}
END_TEST

START_TEST(a_line_with_its_confidence)
{
	uint32_t values[TREND_POINTS];
	struct trend trend;
	int within = 0;

	srand(1);
	for (int round = 0; round < 1000; round++) {
		for (uint32_t i = 0; i < TREND_POINTS; i++)
			values[i] = 100000 + 50 * i + (uint32_t)(rand() % 1000);
		values[rand() % TREND_POINTS] += 1000000; /* one value is far off the line */
		trend_of(values, &trend);
		within += trend.low <= 50 && 50 <= trend.high;
		ck_assert_double_le(trend.surely, trend.low);
	}
	ck_assert_int_ge(within, 930);
	for (uint32_t i = 0; i < TREND_POINTS; i++)
		values[i] = 7 * i + 3;
	trend_of(values, &trend);
	ck_assert_double_eq_tol(trend.slope, 7, 1e-9);
	ck_assert_double_eq_tol(trend.surely, 7, 1e-9);
	ck_assert_double_eq_tol(trend.end - trend.begin, 7 * 15, 1e-9);
	ck_assert_double_eq_tol(trend.early, trend.late, 1e-9);
	ck_assert_double_eq_tol(trend.noise + trend.fall, 0, 1e-9);
	ck_assert_double_eq_tol(trend.jumps, 14, 1e-9);
}
END_TEST

Suite *memory_growth_suite(void)
{
	Suite *suite = suite_create("memory_growth");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, a_series_gives_back_what_it_was_given);
	tcase_add_test(tests, a_series_keeps_what_changes);
	tcase_add_test(tests, a_series_that_rolls_stays_small);
	tcase_add_test(tests, leaks_are_found);
	tcase_add_test(tests, a_leak_is_found_after_a_rest);
	tcase_add_test(tests, what_is_no_leak);
	tcase_add_test(tests, growth_counts_above_what_was_held_for_long);
	tcase_add_test(tests, what_stops_is_cleared);
	tcase_add_test(tests, what_it_may_have_had_is_no_growth);
	tcase_add_test(tests, nothing_is_no_leak);
	tcase_add_test(tests, floors_are_the_least_of_each_part);
	tcase_add_test(tests, floors_of_a_rest_and_of_a_slope);
	tcase_add_test(tests, a_line_with_its_confidence);
	suite_add_tcase(suite, tests);
	return suite;
}
