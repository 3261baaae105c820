/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pool: first fit, in grains, never the first grain; compared with an array of flags.
 */
#include "unwind/pool.h"

#include "tests/unit/often.h"
#include "tests/unit/suites.h"

#include <stdbool.h>
#include <string.h>

START_TEST(gives_the_first_that_fits)
{
	_cleanup_(pool_freep) struct pool *pool = pool_new(100, 4);

	ck_assert_uint_eq(pool_free_elements(pool), 96);
	ck_assert_uint_eq(pool_take(pool, 1), 4);
	ck_assert_uint_eq(pool_take(pool, 8), 8);
	ck_assert_uint_eq(pool_take(pool, 5), 16);
	ck_assert_uint_eq(pool_free_elements(pool), 76);
	pool_give(pool, 8, 8);
	ck_assert_uint_eq(pool_take(pool, 9), 24); /* the hole is too small */
	ck_assert_uint_eq(pool_take(pool, 4), 8);
	ck_assert_uint_eq(pool_take(pool, 3), 12);
	pool_give(pool, 4, 1);
	ck_assert_uint_eq(pool_take(pool, 4), 4);
}
END_TEST

START_TEST(neighbours_given_back_are_one_hole)
{
	_cleanup_(pool_freep) struct pool *pool = pool_new(64 * 10, 1);

	for (size_t i = 1; i < 640; i += 71)
		ck_assert_uint_eq(pool_take(pool, 71), i);
	ck_assert_uint_eq(pool_take(pool, 1), 0);
	pool_give(pool, 143, 71);
	pool_give(pool, 72, 71);
	ck_assert_uint_eq(pool_take(pool, 143), 0);
	ck_assert_uint_eq(pool_take(pool, 142), 72);
}
END_TEST

START_TEST(what_cannot_be)
{
	static const struct {
		size_t elements, grain, count, first;
	} cases[] = {
		{0, 1, 1, 0},           {1, 1, 1, 0},           {2, 1, 1, 1},
		{2, 1, 2, 0},           {100, 0, 1, 0},         {100, 100, 1, 0},
		{199, 100, 1, 0},       {200, 100, 100, 100},   {200, 100, 101, 0},
		{65, 1, 64, 1},         {64, 1, 64, 0},         {1000, 1, 0, 0},
		{1000, 1, SIZE_MAX, 0}, {1000, 7, SIZE_MAX, 0}, {128, 64, 64, 64},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(pool_freep) struct pool *pool =
			pool_new(cases[i].elements, cases[i].grain);

		ck_assert_ptr_nonnull(pool);
		ck_assert_uint_eq(pool_take(pool, cases[i].count), cases[i].first);
	}
	pool_free(NULL);
}
END_TEST

enum { ELEMENTS = 3000, GRAIN = 8, RUNS = 200, STEPS = 200000 };

/* Where first fit must place a run, found by a search grain by grain. */
static size_t naive_take(bool taken[ELEMENTS / GRAIN], size_t count)
{
	size_t want = (count + GRAIN - 1) / GRAIN, run = 0;

	for (size_t i = 1; i < ELEMENTS / GRAIN; i++) {
		run = taken[i] ? 0 : run + 1;
		if (run == want) {
			memset(&taken[i + 1 - want], true, want);
			return (i + 1 - want) * GRAIN;
		}
	}
	return 0;
}

START_TEST(as_a_naive_search)
{
	_cleanup_(pool_freep) struct pool *pool = pool_new(ELEMENTS, GRAIN);
	bool taken[ELEMENTS / GRAIN] = {0};
	struct {
		size_t first, count;
	} runs[RUNS] = {0};
	unsigned state = 1, refused = 0;

	for (int step = 0; step < STEPS; step++) {
		state = state * 1103515245 + 12345;
		size_t i = (state >> 16) % RUNS, count = (state >> 8) % 97 + 1;

		if (runs[i].first) {
			pool_give(pool, runs[i].first, runs[i].count);
			memset(&taken[runs[i].first / GRAIN], false,
			       (runs[i].count + GRAIN - 1) / GRAIN);
			runs[i].first = 0;
			continue;
		}
		runs[i].first = pool_take(pool, count);
		runs[i].count = count;
		ASSERT_OFTEN(runs[i].first == naive_take(taken, count));
		refused += !runs[i].first;
	}
	ck_assert_uint_gt(refused, 0);
	size_t free_grains = 0;
	for (size_t i = 1; i < ELEMENTS / GRAIN; i++)
		free_grains += !taken[i];
	ck_assert_uint_eq(pool_free_elements(pool), free_grains * GRAIN);
}
END_TEST

Suite *pool_suite(void)
{
	Suite *suite = suite_create("pool");
	TCase *tcase = tcase_create("pool");

	tcase_add_test(tcase, gives_the_first_that_fits);
	tcase_add_test(tcase, neighbours_given_back_are_one_hole);
	tcase_add_test(tcase, what_cannot_be);
	tcase_add_test(tcase, as_a_naive_search);
	suite_add_tcase(suite, tcase);
	return suite;
}
