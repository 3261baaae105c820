/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What samples stand for. Each sampled allocation of size S, sampled with probability P = 1 -
 * exp(-S/R), must weigh S/P, so that the weights of n such allocations add up to nS with a variance
 * of nS^2(1-P)/P. A sum may be off by five standard deviations; chance alone exceeds that once in
 * two million times.
 */
#include "tests/preload/suites.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/preload/listener.h"

#define SIGMAS 5

static double variance(double n, double size)
{
	double p = -expm1(-size / rate());

	return n * size * size * (1 - p) / p;
}

/* Rounding to whole bytes, up or down at random, adds at most a quarter of a byte each. */
static void assert_near(const char *what, double sum, double truth, double variance_of_it)
{
	double sigma = sqrt(variance_of_it + (double)heard.allocs / 4);

	ck_assert_msg(fabs(sum - truth) <= SIGMAS * sigma,
	              "%s: weights add up to %.0f of %.0f, %.1f standard deviations off", what, sum,
	              truth, fabs(sum - truth) / sigma);
}

/* ---- one size at a time -------------------------------------------------------------------- */

static const struct {
	size_t size, times;
} sizes[] = {
	{1, 5000000},  {16, 1000000},  {100, 200000},   {1000, 50000},
	{4096, 20000}, {20000, 10000}, {100000, 10000}, {3000000, 1000},
};

START_TEST(one_size)
{
	size_t size = sizes[_i].size, times = sizes[_i].times;

	listen_from_now();
	for (size_t i = 0; i < times; i++) {
		void *volatile block = malloc(size);

		free(block);
	}
	listen_no_more();
	assert_near("one size", (double)heard.weight, (double)(size * times),
	            variance((double)times, (double)size));
}
END_TEST

/* ---- many sizes in step -------------------------------------------------------------------- */

/* A program that allocates in rounds: with fixed distances between samples, one of its calls would
 * get all samples. */
static const size_t round_of[] = {24, 1500, 24, 600, 8, 2000, 24};

#define ROUNDS 30000

START_TEST(each_size_of_a_round)
{
	static const size_t distinct[][2] = {{8, 1}, {24, 3}, {600, 1}, {1500, 1}, {2000, 1}};

	listen_from_now();
	for (int i = 0; i < ROUNDS; i++)
		for (size_t n = 0; n < sizeof(round_of) / sizeof(round_of[0]); n++) {
			void *volatile block = malloc(round_of[n]);

			free(block);
		}
	listen_no_more();
	for (size_t i = 0; i < sizeof(distinct) / sizeof(distinct[0]); i++) {
		double n = (double)distinct[i][1] * ROUNDS, size = (double)distinct[i][0];

		assert_near("a size of a round", (double)heard_weights[distinct[i][0]], n * size,
		            variance(n, size));
	}
}
END_TEST

/* ---- every function ------------------------------------------------------------------------ */

static void *by_calloc(size_t size)
{
	return calloc(2, size / 2);
}

static void *by_realloc(size_t size)
{
	return realloc(NULL, size);
}

static void *by_growing(size_t size)
{
	return realloc(malloc(0), size);
}

static void *by_reallocarray(size_t size)
{
	return reallocarray(NULL, size / 2, 2);
}

static void *by_memalign(size_t size)
{
	return memalign(64, size);
}

static void *by_aligned_alloc(size_t size)
{
	return aligned_alloc(32, size);
}

static void *by_posix_memalign(size_t size)
{
	void *block;

	return posix_memalign(&block, 256, size) ? NULL : block;
}

static const struct {
	const char *name;
	void *(*allocate)(size_t size);
	size_t size;
} functions[] = {
	{"malloc", malloc, 640},
	{"calloc", by_calloc, 640},
	{"realloc", by_realloc, 640},
	{"realloc of a block", by_growing, 640},
	{"reallocarray", by_reallocarray, 640},
	{"memalign", by_memalign, 640},
	{"aligned_alloc", by_aligned_alloc, 640},
	{"posix_memalign", by_posix_memalign, 640},
	{"valloc", valloc, 640},
	{"pvalloc", pvalloc, 4096},
};

START_TEST(each_function)
{
	double n = 30000, size = (double)functions[_i].size;

	listen_from_now();
	for (int i = 0; i < (int)n; i++) {
		void *volatile block = functions[_i].allocate(functions[_i].size);

		if (!block)
			break;
		free(block);
	}
	listen_no_more();
	assert_near(functions[_i].name, (double)heard.weight, n * size, variance(n, size));
	must(heard.bytes == heard.allocs * functions[_i].size);
	must(heard.frees == heard.allocs);
}
END_TEST

/* ---- threads: each has a countdown of its own ---------------------------------------------- */

#define THREADS          200
#define BLOCKS_OF_THREAD 1000
#define BLOCK_OF_THREAD  300

static void *allocate_some(void *unused)
{
	for (int i = 0; i < BLOCKS_OF_THREAD; i++) {
		void *volatile block = malloc(BLOCK_OF_THREAD);

		free(block);
	}
	return unused;
}

/* Many short threads, most of which end before their next sampling point. */
START_TEST(short_threads)
{
	double n = (double)THREADS * BLOCKS_OF_THREAD;

	listen_from_now();
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		must(pthread_create(&thread, NULL, allocate_some, NULL) == 0);
		pthread_join(thread, NULL);
	}
	listen_no_more();
	/* By size, because the creation of a thread allocates, too. */
	assert_near("short threads", (double)heard_weights[BLOCK_OF_THREAD], n * BLOCK_OF_THREAD,
	            variance(n, BLOCK_OF_THREAD));
}
END_TEST

Suite *weights_suite(void)
{
	Suite *suite = suite_create("weights");
	TCase *add_up = tcase_create("add up");

	tcase_add_loop_test(add_up, one_size, 0, sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_loop_test(add_up, each_function, 0, sizeof(functions) / sizeof(functions[0]));
	tcase_add_test(add_up, each_size_of_a_round);
	tcase_add_test(add_up, short_threads);
	suite_add_tcase(suite, add_up);
	return suite;
}
