/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums by call path: allocations are reported once, memory that is held stays, and the table does
 * not grow with all past allocations.
 */
#include "gpu/gpu_sums.h"

#include "tests/unit/suites.h"

static struct gpu_sums sums;

static void set_up(void)
{
	sums = (struct gpu_sums){0};
}

static void tear_down(void)
{
	gpu_sums_release(&sums);
}

static uint32_t allocate(uint32_t path, uint64_t bytes, bool held)
{
	uint32_t place = gpu_sums_place(&sums, path, 1);

	ck_assert_uint_ne(place, UINT32_MAX);
	sums.at[place].allocations++;
	sums.at[place].allocated += bytes;
	sums.at[place].objects += held;
	sums.at[place].bytes += held ? bytes : 0;
	return place;
}

/* The number of samples. */
static uint32_t tell(void)
{
	_cleanup_free_ struct sample *samples = NULL;
	uint32_t count;

	ck_assert_int_eq(gpu_sums_allocated(&sums, &samples, &count), 0);
	return count - 1;
}

START_TEST(stacks_that_are_over_make_room)
{
	uint32_t kept = allocate(7, 100, true);
	uint32_t path = 100;

	for (int slice = 0; slice < 1000; slice++) {
		for (int i = 0; i < 500; i++)
			allocate(path++, 1, false);
		ck_assert_uint_eq(tell(), slice ? 500 : 501);
	}
	ck_assert_uint_le(sums.capacity, 1024);
	ck_assert_uint_eq(gpu_sums_place(&sums, 7, 1), kept);
	ck_assert_uint_eq(sums.at[kept].bytes, 100);
	ck_assert_uint_eq(tell(), 0);
	ck_assert_uint_le(sums.capacity, 64);
}
END_TEST

START_TEST(places_of_what_is_held_stay)
{
	uint32_t places[100];
	_cleanup_free_ struct sample *samples = NULL;
	uint32_t count;

	for (uint32_t i = 0; i < 100; i++)
		places[i] = allocate(i, i, i % 3 == 0);
	tell();
	for (uint32_t i = 1000; i < 1050; i++)
		allocate(i, 1, false);
	for (uint32_t i = 0; i < 100; i += 3) {
		ck_assert_uint_eq(gpu_sums_place(&sums, i, 1), places[i]);
		ck_assert_uint_eq(sums.at[places[i]].bytes, i);
	}
	ck_assert_int_eq(gpu_sums_held(&sums, &samples, &count), 0);
	ck_assert_uint_eq(count - 1, 34);
	ck_assert_uint_eq(tell(), 50);
}
END_TEST

START_TEST(there_is_a_bound)
{
	for (uint32_t i = 0; i < GPU_SUMS_MAX; i++)
		allocate(i, 1, true);
	ck_assert_uint_eq(gpu_sums_place(&sums, GPU_SUMS_MAX, 1), UINT32_MAX);
	ck_assert_uint_ne(gpu_sums_place(&sums, 5, 1), UINT32_MAX);
	sums.at[5].objects = sums.at[5].bytes = 0;
	tell();
	ck_assert_uint_ne(gpu_sums_place(&sums, GPU_SUMS_MAX, 1), UINT32_MAX);
}
END_TEST

Suite *gpu_sums_suite(void)
{
	Suite *suite = suite_create("gpu_sums");
	TCase *tcase = tcase_create("gpu_sums");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, stacks_that_are_over_make_room);
	tcase_add_test(tcase, places_of_what_is_held_stay);
	tcase_add_test(tcase, there_is_a_bound);
	suite_add_tcase(suite, tcase);
	return suite;
}
