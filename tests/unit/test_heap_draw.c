/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel half draws, compared with the logarithm of libm, and what watching would cost a
 * process.
 */
#include "allocators/weights.h"
#include "bpf/heap.h"
#include "heap/heap_guard.h"
#include "tests/unit/often.h"
#include "tests/unit/suites.h"

#include <math.h>

enum { STEP = 99991 }; /* through all random numbers; a prime */

static double exact(u64 random, u64 rate)
{
	return -log((double)(random + 1) / 4294967296.0) * (double)rate;
}

START_TEST(draws_are_exponential)
{
	static const u64 rates[] = {1, 100, 512 * 1024, 1ULL << 34};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		double sum = 0, count = 0;

		for (u64 random = 0; random < 1ULL << 32; random += STEP) {
			double drawn = (double)heap_draw((u32)random, rates[i]);
			double right = exact(random, rates[i]);

			/* The result is rounded down, and the logarithm has 24 fractional bits. */
			ASSERT_OFTEN(drawn <= right + (double)rates[i] * 2e-7 + 1e-6);
			ASSERT_OFTEN(drawn >= right - 1 - (double)rates[i] * 2e-7);
			sum += drawn;
			count++;
		}
		if (rates[i] > 1000)
			ck_assert_double_eq_tol(sum / count / (double)rates[i], 1, 1e-3);
	}
}
END_TEST

START_TEST(the_ends_are_finite)
{
	ck_assert_uint_eq(heap_draw(UINT32_MAX, heap_max_rate), 0);
	ck_assert_double_eq_tol((double)heap_draw(0, 1 << 20), 32 * M_LN2 * (1 << 20), 16);
	ck_assert_uint_lt(heap_draw(0, heap_max_rate), 1ULL << 40);
}
END_TEST

/* A countdown over equal sizes takes samples with the stated probability, and their weights add
 * up. */
START_TEST(samples_stand_for_everything)
{
	const u64 rate = 4096, sizes[] = {16, 1000, 4096, 100000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const u32 calls = 400000;
		double weighed = 0, probability = heap_probability(sizes[i], rate);
		u64 random = 1, remaining = heap_draw(12345, rate);
		u32 sampled = 0;

		for (u32 call = 0; call < calls; call++) {
			if (sizes[i] <= remaining) {
				remaining -= sizes[i];
				continue;
			}
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			remaining = heap_draw((u32)(random >> 32), rate);
			weighed += heap_weigh(sizes[i], rate).bytes;
			sampled++;
		}
		ck_assert_double_eq_tol(sampled, calls * probability,
		                        4 * sqrt(calls * probability) + 1);
		ck_assert_double_eq_tol(weighed / ((double)calls * (double)sizes[i]), 1,
		                        4 / sqrt(calls * probability));
	}
}
END_TEST

/* A reading with hits that cost 0.5 us each, of a process that used `before` cores and uses
 * `now`. */
static struct heap_reading corrected(double before, double now, double hits)
{
	const struct heap_guard guard = {.cores_before = before};
	struct heap_reading reading = {.hits_per_second = hits, .cost = hits * 5e-7, .cores = now};

	heap_guard_correct(&guard, &reading);
	return reading;
}

START_TEST(a_process_with_time_left_is_as_counted)
{
	struct heap_reading reading = corrected(0.10, 0.15, 100000);

	ck_assert_double_eq_tol(reading.hits_per_second, 100000, 1);
	ck_assert_double_eq_tol(reading.cost, 0.05, 1e-6);
}
END_TEST

START_TEST(a_busy_process_is_slowed_down_by_counting)
{
	/* The probes take 0.75 of its core; without them it would do four times as much. */
	struct heap_reading reading = corrected(1, 1, 1500000);

	ck_assert_double_eq_tol(reading.hits_per_second, 6000000, 10);
	ck_assert_double_eq_tol(reading.cost, 3, 1e-5);
}
END_TEST

START_TEST(noise_is_bounded)
{
	struct heap_reading reading = corrected(1, 0.5, 1000000);

	/* All of the process's time seems to be the probes' cost. */
	ck_assert_double_le(reading.cost, 0.5 * 20);
	ck_assert_double_ge(reading.cost, 0.5);
	/* The process slept before, or has ended. */
	ck_assert_double_eq_tol(corrected(0, 1, 1000).hits_per_second, 1000, 1e-6);
	ck_assert_double_le(corrected(0, 0, 0).cost, 0);
}
END_TEST

Suite *heap_draw_suite(void)
{
	Suite *suite = suite_create("heap_draw");
	TCase *draw = tcase_create("draw"), *guard = tcase_create("guard");

	tcase_add_test(draw, draws_are_exponential);
	tcase_add_test(draw, the_ends_are_finite);
	tcase_add_test(draw, samples_stand_for_everything);
	suite_add_tcase(suite, draw);
	tcase_add_test(guard, a_process_with_time_left_is_as_counted);
	tcase_add_test(guard, a_busy_process_is_slowed_down_by_counting);
	tcase_add_test(guard, noise_is_bounded);
	suite_add_tcase(suite, guard);
	return suite;
}
