/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which launches are chosen, and what is remembered of them, for artificial streams of launches.
 */
#include "cuda_helper/chooser.h"
#include "cuda_helper/correlations.h"
#include "tests/cuda_helper/suites.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A storm in step with any fixed distance: each kernel's share is correct, and the rate is kept. */
START_TEST(test_chooser)
{
	enum { LAUNCHES = 4000000, PERIOD = 64 };
	static struct chooser chooser;
	uint64_t chosen = 0, sums[3] = {0}, truth[3] = {0}, now = 1;

	chooser_init(&chooser, 100, 20, 12345);
	for (uint64_t i = 0; i < LAUNCHES; i++, now += 10000) { /* 100000 a second for 40 seconds */
		uint64_t at = i % PERIOD, kernel = at < 4 ? 0 : at < 24 ? 1 : 2;
		uint32_t weight = chooser_take(&chooser, 0x1000 + kernel * 64, false, now);

		truth[kernel]++;
		sums[kernel] += weight;
		chosen += weight != 0;
	}
	ck_assert_uint_le(chosen, 400 + 40 * 100);
	ck_assert_uint_gt(chosen, 40 * 40);
	ASSERT_NEAR(sums[0], truth[0], 0.01);
	ASSERT_NEAR(sums[1], truth[1], 0.01);
	ASSERT_NEAR(sums[2], truth[2], 0.01);
}
END_TEST

/* At launches slower than the rate all are chosen. With more kernels than there are places, none is
 * lost. */
START_TEST(test_chooser_all)
{
	static struct chooser chooser;
	uint64_t sum = 0;

	chooser_init(&chooser, 100, 20, 1);
	for (uint64_t i = 0; i < 100000; i++)
		ck_assert_uint_eq(chooser_take(&chooser, i % 5 + 1, false, 1 + i * 20000000), 1);
	for (uint64_t i = 0; i < 100000; i++)
		sum += chooser_take(&chooser, i * 4096, i & 1, 3000000000000 + i * 100000000);
	ck_assert_uint_eq(sum, 100000);
}
END_TEST

enum { PHASES = 5, STREAM_KERNELS = 3 };

/* Seconds, and launches a second. */
static const struct {
	uint64_t seconds, rate;
} phases[PHASES] = {{3, 50000}, {6, 40}, {3, 20000}, {1, 0}, {3, 300}};

struct phase_told {
	double sum[STREAM_KERNELS], truth[STREAM_KERNELS];
	double variance[STREAM_KERNELS]; /* of the sum, if each launch is drawn independently */
	uint64_t chosen;
	double first_s; /* from the start to the first launch that is reported */
};

/* Kernels with 1, 9 and 90 % of all launches in turn, at intervals that vary by up to half. */
static void run_stream(uint64_t seed, bool graphs, struct phase_told told[PHASES])
{
	struct chooser chooser;
	uint64_t now = 5000000000, turn = seed * 7919;
	const struct chooser_pace *pace = graphs ? &chooser.graphs : &chooser.kernels;
	unsigned random = (unsigned)seed;

	chooser_init(&chooser, 100, 20, seed);
	memset(told, 0, PHASES * sizeof(*told));
	for (int phase = 0; phase < PHASES; phase++) {
		uint64_t begin = now, end = now + phases[phase].seconds * 1000000000;
		uint64_t gap = phases[phase].rate ? 1000000000 / phases[phase].rate : 0;

		told[phase].first_s = -1;
		for (; gap && now < end; now += gap / 2 + (uint64_t)rand_r(&random) % gap) {
			uint64_t at = turn++ % 100, kernel = at < 1 ? 0 : at < 10 ? 1 : 2;
			uint32_t weight = chooser_take(&chooser, 64 + kernel, graphs, now);

			told[phase].truth[kernel]++;
			told[phase].sum[kernel] += weight;
			told[phase].variance[kernel] += (double)(1U << pace->doublings) - 1;
			told[phase].chosen += weight != 0;
			if (weight && told[phase].first_s < 0)
				told[phase].first_s = (double)(now - begin) / 1e9;
		}
		now = end;
	}
}

/* Storms with pauses between them, many times: for each kernel and phase the mean reported number
 * is the true number of launches, within four standard errors, and no phase goes unreported. */
static void check_streams(bool graphs, uint64_t a_second)
{
	enum { STREAMS = 400 };
	static struct phase_told told[PHASES];
	struct phase_told all[PHASES] = {0};

	for (uint64_t seed = 1; seed <= STREAMS; seed++) {
		run_stream(seed, graphs, told);
		for (int phase = 0; phase < PHASES; phase++) {
			for (int of = 0; of < STREAM_KERNELS; of++) {
				all[phase].sum[of] += told[phase].sum[of];
				all[phase].truth[of] += told[phase].truth[of];
				all[phase].variance[of] += told[phase].variance[of];
			}
			ck_assert_uint_le(told[phase].chosen,
			                  (4 + phases[phase].seconds) * a_second);
			ck_assert(!phases[phase].rate || told[phase].first_s >= 0);
			ck_assert_double_lt(told[phase].first_s, 1.5);
		}
	}
	for (int phase = 0; phase < PHASES; phase++) {
		for (int of = 0; of < STREAM_KERNELS; of++) {
			double off = all[phase].sum[of] - all[phase].truth[of];

			ck_assert_msg(off * off <= 16 * all[phase].variance[of],
			              "phase %d, kernel %d: %.0f of %.0f, variance %.0f", phase, of,
			              all[phase].sum[of], all[phase].truth[of],
			              all[phase].variance[of]);
			/* For a kernel with many steps the sum is almost exact. */
			ck_assert(all[phase].truth[of] < STREAMS * 50000.0 ||
			          fabs(off) < all[phase].truth[of] / 200);
		}
	}
}

START_TEST(test_chooser_phases)
{
	check_streams(false, 100);
	check_streams(true, 20);
}
END_TEST

START_TEST(test_correlations)
{
	static struct correlations all;
	uint32_t found = 0;

	for (uint32_t i = 1; i <= CORRELATION_SETS * CORRELATION_WAYS + 10; i++)
		correlations_add(&all, i * 3, i);
	for (uint32_t i = 1; i <= CORRELATION_SETS * CORRELATION_WAYS + 10; i++) {
		uint32_t weight = correlations_find(&all, i * 3);

		ck_assert(weight == 0 || weight == i);
		ck_assert(weight || i <= 10);
		found += weight != 0;
	}
	ck_assert_uint_eq(found, CORRELATION_SETS * CORRELATION_WAYS);
	ck_assert_uint_eq(correlations_find(&all, 4), 0);
	correlations_add(&all, UINT32_MAX, 1);
	correlations_add(&all, 5, 9); /* after the numbers have wrapped around */
	ck_assert_uint_eq(correlations_find(&all, 5), 9);
	correlations_clear(&all);
	ck_assert_uint_eq(correlations_find(&all, 5), 0);
	/* A delayed thread has an old number: newer numbers stay. */
	for (uint32_t i = 2; i <= 6; i++)
		if (i != 5)
			correlations_add(&all, i * CORRELATION_SETS, 1);
	correlations_add(&all, 5 * CORRELATION_SETS, 1);
	ck_assert_uint_eq(correlations_find(&all, 2 * CORRELATION_SETS), 0);
	ck_assert_uint_eq(correlations_find(&all, 5 * CORRELATION_SETS), 1);
	ck_assert_uint_eq(correlations_find(&all, 6 * CORRELATION_SETS), 1);
}
END_TEST

/* Two threads add to one set at the same time. The entry that a thread has added is still there
 * after its next one, unless the other thread has added two since, and is about to add one more. A
 * round uses only half of all numbers, however long a thread is delayed. */
enum { ROUNDS = 40, ADDED_A_ROUND = 200000 };
_Static_assert(2ULL * ADDED_A_ROUND * CORRELATION_SETS < 1ULL << 31, "half of all numbers");

static struct correlations shared;
static struct {
	pthread_barrier_t begin, end;
	uint32_t last, added[2];
} adders;

static uintptr_t add_round(const uint32_t *others, uint32_t *mine)
{
	uint32_t before = 0, number = 0;
	uintptr_t lost = 0;

	for (int i = 0; i < ADDED_A_ROUND; i++) {
		uint32_t now = __atomic_load_n(others, __ATOMIC_SEQ_CST);
		uint32_t next = __atomic_add_fetch(&adders.last, 1, __ATOMIC_SEQ_CST);

		correlations_add(&shared, next * CORRELATION_SETS, 1);
		__atomic_add_fetch(mine, 1, __ATOMIC_SEQ_CST);
		if (number && !correlations_find(&shared, number * CORRELATION_SETS))
			lost += __atomic_load_n(others, __ATOMIC_SEQ_CST) - before < 2;
		number = next;
		before = now;
	}
	return lost;
}

static void *add_rounds(void *is_second)
{
	uintptr_t lost = 0;

	for (int round = 0; round < ROUNDS; round++) {
		if (!is_second) {
			correlations_clear(&shared);
			adders.last = 0;
		}
		pthread_barrier_wait(&adders.begin);
		lost += add_round(&adders.added[!is_second], &adders.added[is_second != NULL]);
		pthread_barrier_wait(&adders.end);
	}
	return (void *)lost;
}

START_TEST(test_correlations_threads)
{
	pthread_t second;
	void *lost;

	pthread_barrier_init(&adders.begin, NULL, 2);
	pthread_barrier_init(&adders.end, NULL, 2);
	ck_assert_int_eq(pthread_create(&second, NULL, add_rounds, &adders), 0);
	ck_assert_ptr_null(add_rounds(NULL));
	pthread_join(second, &lost);
	ck_assert_ptr_null(lost);
}
END_TEST

TCase *parts_case(void)
{
	TCase *tcase = tcase_create("parts");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_chooser);
	tcase_add_test(tcase, test_chooser_all);
	tcase_add_test(tcase, test_chooser_phases);
	tcase_add_test(tcase, test_correlations);
	tcase_add_test(tcase, test_correlations_threads);
	return tcase;
}
