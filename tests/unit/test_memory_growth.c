/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Series of figures, and what is a leak among the shapes that memory takes. A point a second.
 */
#include "tests/unit/often.h"
#include "tests/unit/suites.h"

#include "memory/growth.h"

#include <math.h>
#include <stdlib.h>

#define MIB (1024.0 * 1024.0)

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
	/* What held at that moment stays, though it was told before. */
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

static struct growth judge(shape_fn *shape, unsigned int from_second, unsigned int seconds)
{
	struct series series = {0};
	struct growth_ask ask = {.of = GROWTH_resident};
	struct growth growth;

	for (unsigned int s = 0; s <= seconds; s++) {
		struct series_point point = point_at(s * 1000ULL, shape(s));

		ASSERT_OFTEN(series_add(&series, &point) == 0);
	}
	ask.from_ms = from_second * 1000ULL;
	ask.now_ms = seconds * 1000ULL;
	ck_assert_int_eq(growth_judge(&series, &ask, &growth), 0);
	series_release(&series);
	return growth;
}

/* At every moment of ten minutes. */
static bool ever_leaks(shape_fn *shape)
{
	for (unsigned int seconds = 1; seconds <= 600; seconds += 5)
		if (judge(shape, 0, seconds).leaking)
			return true;
	return false;
}

static double noise(double amplitude)
{
	return amplitude * rand() / RAND_MAX;
}

static double leak(double s)
{
	return 40 + s;
}

static double leak_with_noise(double s)
{
	return 40 + s + noise(4);
}

/* A garbage collector gives back all but what leaks. */
static double leak_under_a_collector(double s)
{
	return 100 + 0.5 * s + 10 * fmod(s, 7);
}

static double leak_in_steps(double s)
{
	return 50 + 10 * floor(s / 12);
}

static double fast_leak(double s)
{
	return 5 + 8 * s;
}

static double leak_after_long_rest(double s)
{
	return s < 400 ? 200 : 200 + 2 * (s - 400);
}

static double sawtooth(double s)
{
	return 40 + 32 * fmod(s, 4) / 4;
}

/* Teeth longer than the shortest time looked at. The first one goes up as a leak does. */
static double slow_sawtooth(double s)
{
	return 40 + 200 * fmod(s + 60, 120) / 120;
}

static double start_then_flat(double s)
{
	return s < 20 ? 10 + 20 * s : 410;
}

static double flat_with_noise(double s)
{
	(void)s;
	return 300 + noise(60);
}

static double too_little(double s)
{
	return 1000 + 0.15 * s;
}

static double falling(double s)
{
	return 1000 - s;
}

START_TEST(leaks_are_found)
{
	struct growth growth = judge(leak, 0, 120);

	srand(3);
	ck_assert(growth.leaking);
	ck_assert_uint_eq(growth.since_ms, 0);
	ck_assert_double_eq_tol((double)growth.bytes_per_second, MIB, 0.05 * MIB);
	growth = judge(leak_with_noise, 0, 300);
	ck_assert(growth.leaking);
	ck_assert_double_eq_tol((double)growth.bytes_per_second, MIB, 0.1 * MIB);
	growth = judge(leak_under_a_collector, 0, 400);
	ck_assert(growth.leaking);
	ck_assert_double_eq_tol((double)growth.bytes_per_second, MIB / 2, 0.1 * MIB);
	ck_assert(judge(leak_in_steps, 0, 500).leaking);
	ck_assert(judge(fast_leak, 0, 31).leaking);
	ck_assert(!judge(fast_leak, 0, 29).leaking);
}
END_TEST

START_TEST(a_leak_is_found_after_a_rest)
{
	struct growth growth = judge(leak_after_long_rest, 0, 500);

	ck_assert(!judge(leak_after_long_rest, 0, 399).leaking);
	ck_assert(growth.leaking);
	ck_assert_uint_ge(growth.since_ms, 350 * 1000);
	ck_assert_double_eq_tol((double)growth.bytes_per_second, 2 * MIB, 0.5 * MIB);
}
END_TEST

START_TEST(what_comes_back_is_no_leak)
{
	srand(5);
	ck_assert(!ever_leaks(sawtooth));
	ck_assert(!ever_leaks(flat_with_noise));
	ck_assert(!ever_leaks(start_then_flat));
	ck_assert(!ever_leaks(falling));
	ck_assert(!ever_leaks(too_little));
	for (unsigned int seconds = 65; seconds < 600; seconds++)
		ck_assert(!judge(slow_sawtooth, 0, seconds).leaking);
}
END_TEST

START_TEST(another_program_has_its_own_past)
{
	/* What went before hides nothing of a leak, and is none. */
	ck_assert(!judge(leak, 100, 120).leaking);
	ck_assert(judge(leak, 100, 140).leaking);
	ck_assert_uint_ge(judge(leak, 100, 140).since_ms, 100 * 1000);
}
END_TEST

START_TEST(nothing_is_no_leak)
{
	struct series series = {0};
	struct growth growth;

	ck_assert_int_eq(growth_judge(&series, &(struct growth_ask){.now_ms = 1000000}, &growth),
	                 0);
	ck_assert(!growth.leaking);
}
END_TEST

/* A heap that grows by 1 MiB a second from `known` seconds on, and not at all in what is held. */
static struct growth judge_heap(unsigned int known, unsigned int seconds, enum growth_of of,
                                double had_mib)
{
	struct series series = {0};
	struct growth growth;

	for (unsigned int s = 0; s <= seconds; s++) {
		struct series_point point = point_at(s * 1000ULL, 500);

		if (s < 10 || s >= known)
			point.figures.values[MEMORY_heap_inuse] = (uint64_t)((10 + s) * MIB);
		ASSERT_OFTEN(series_add(&series, &point) == 0);
	}
	ck_assert_int_eq(growth_judge(&series,
	                              &(struct growth_ask){.of = of,
	                                                   .now_ms = seconds * 1000ULL,
	                                                   .had_bytes = (uint64_t)(had_mib * MIB)},
	                              &growth),
	                 0);
	series_release(&series);
	return growth;
}

START_TEST(a_heap_grows_within_what_is_held)
{
	struct growth growth = judge_heap(0, 120, GROWTH_heap, 0);

	ck_assert(growth.leaking);
	ck_assert_int_eq(growth.of, GROWTH_heap);
	ck_assert_double_eq_tol((double)growth.bytes_per_second, MIB, 0.05 * MIB);
	ck_assert(!judge_heap(0, 120, GROWTH_resident, 0).leaking);
}
END_TEST

START_TEST(a_heap_has_the_past_that_is_known)
{
	/* What was known before it was not is another heap's. */
	ck_assert(!judge_heap(100, 120, GROWTH_heap, 0).leaking);
	ck_assert(judge_heap(100, 140, GROWTH_heap, 0).leaking);
	ck_assert_uint_ge(judge_heap(100, 140, GROWTH_heap, 0).since_ms, 100 * 1000);
	ck_assert(!judge_heap(200, 120, GROWTH_heap, 0).leaking);
}
END_TEST

START_TEST(a_heap_comes_to_be_known)
{
	/* It held 130 MiB at its end; 10 % above what it may have had is 132. */
	ck_assert(!judge_heap(0, 120, GROWTH_heap, 120).leaking);
	ck_assert(judge_heap(0, 130, GROWTH_heap, 120).leaking);
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
	tcase_add_test(tests, what_comes_back_is_no_leak);
	tcase_add_test(tests, another_program_has_its_own_past);
	tcase_add_test(tests, nothing_is_no_leak);
	tcase_add_test(tests, a_heap_grows_within_what_is_held);
	tcase_add_test(tests, a_heap_has_the_past_that_is_known);
	tcase_add_test(tests, a_heap_comes_to_be_known);
	suite_add_tcase(suite, tests);
	return suite;
}
