/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For each address alloc and free alternate, whatever threads, realloc() and fork() do: no alloc of
 * a live block, no free of a block that is not live, and no live blocks once everything is freed.
 */
#include "tests/preload/suites.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/listener.h"

static void assert_paired(void)
{
	must(heard.allocs > 0);
	must(heard.twice == 0);
	must(heard.unpaired == 0);
	must(heard.live == heard.allocs - heard.frees);
}

START_TEST(many_held)
{
	enum { BLOCKS = 50000, SIZE = 1000 };
	static void *blocks[BLOCKS];
	double p = -expm1(-SIZE / rate());

	listen_from_now();
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(SIZE);
	assert_paired();
	must(heard.frees == 0);
	/* The number of sampled blocks is as expected, give or take five standard deviations. */
	must(fabs((double)heard.live - BLOCKS * p) <= 5 * sqrt(BLOCKS * p * (1 - p)));
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	assert_paired();
	must(heard.live == 0);
}
END_TEST

/* ---- threads ------------------------------------------------------------------------------- */

#define SHELF 512
#define TURNS 30000

static void *shelf[SHELF];

/* Small random numbers from the caller's own state: with rand() threads would wait for each
 * other. */
static uint32_t draw(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Takes a block from the shelf, whichever thread put it there; frees it or changes its size, and
 * puts one back. */
static void *churn(void *seed)
{
	uint32_t state = (uint32_t)(uintptr_t)seed;

	for (int i = 0; i < TURNS; i++) {
		void **place = &shelf[draw(&state) % SHELF];
		void *block = __atomic_exchange_n(place, NULL, __ATOMIC_ACQ_REL);
		size_t size = draw(&state) % 3000 + 1;

		if (draw(&state) % 2) {
			free(block);
			block = malloc(size);
		} else {
			block = realloc(block, size);
		}
		free(__atomic_exchange_n(place, block, __ATOMIC_ACQ_REL));
	}
	return NULL;
}

START_TEST(threads_free_what_others_allocated)
{
	enum { THREADS = 6 };
	pthread_t threads[THREADS];

	listen_from_now();
	for (uintptr_t i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, churn, (void *)(i * 7919)) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_paired();
	for (int i = 0; i < SHELF; i++)
		free(shelf[i]);
	listen_no_more();
	assert_paired();
	/* Memory for the threads themselves may outlive them: glibc keeps their stacks and their
	 * vectors. */
	must(heard.live <= 2 * THREADS);
}
END_TEST

/* ---- realloc ------------------------------------------------------------------------------- */

START_TEST(a_block_that_grows)
{
	char *block = NULL;

	listen_from_now();
	for (size_t size = 1; size < 4000000; size += size / 8 + 1) {
		block = realloc(block, size);
		must(block != NULL);
		block[size - 1] = (char)size;
		must(heard.live <= 1);
	}
	must(heard_live(block)); /* at 1 KiB every block of 4 MB is sampled */
	for (size_t size = 4000000; size > 100; size -= size / 8 + 1) {
		block = realloc(block, size);
		must(heard.live <= 1);
	}
	free(block);
	assert_paired();
	must(heard.live == 0);
}
END_TEST

START_TEST(a_realloc_that_fails)
{
	enum { SIZE = 1 << 20 };
	/* Volatile: otherwise gcc concludes that the call must fail, and that the block is gone. */
	volatile size_t too_much = PTRDIFF_MAX - 4096;
	char *volatile block;

	listen_from_now();
	block = malloc(SIZE);
	memset(block, 'x', SIZE);
	must(heard_live(block));
	must(realloc(block, too_much) == NULL);
	must(reallocarray(block, too_much, 16) == NULL);
	must(heard_live(block));
	must(heard.frees == 0);
	must(block[SIZE - 1] == 'x');
	free(block);
	must(heard.frees == 1);
	assert_paired();
}
END_TEST

START_TEST(a_realloc_to_nothing)
{
	enum { SIZE = 1 << 20 };
	volatile size_t nothing = 0;
	void *block;

	listen_from_now();
	block = malloc(SIZE);
	must(heard_live(block));
	free(realloc(block, nothing));
	assert_paired();
	must(heard.live == 0);
}
END_TEST

/* ---- fork ----------------------------------------------------------------------------------- */

static volatile bool enough;

static void *churn_until_enough(void *seed)
{
	while (!enough)
		churn(seed);
	return NULL;
}

/* The children of a process whose other threads are inside the allocator can allocate and free, and
 * their samples are reported. */
START_TEST(fork_amid_threads)
{
	enum { THREADS = 3, CHILDREN = 40 };
	pthread_t threads[THREADS];

	listen_from_now();
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, churn_until_enough, (void *)(i * 7919));
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();
		int status = -1;

		if (child == 0) {
			uint64_t allocs = heard.allocs;

			for (int n = 0; n < 2000; n++) {
				void *volatile block = malloc(4096);

				free(block);
			}
			_exit(heard.allocs > allocs ? 0 : 1);
		}
		must(child > 0);
		must(waitpid(child, &status, 0) == child);
		must(status == 0);
	}
	enough = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_paired();
}
END_TEST

/* Which of 64 allocations are sampled, as a bit mask. */
static uint64_t which_are_sampled(void)
{
	uint64_t bits = 0;

	for (int i = 0; i < 64; i++) {
		uint64_t before = heard.allocs;
		void *volatile block = malloc(700);

		bits = bits << 1 | (heard.allocs != before);
		free(block);
	}
	return bits;
}

START_TEST(children_draw_for_themselves)
{
	uint64_t *bits =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	listen_from_now();
	free(malloc(1)); /* gives this thread a sampling state, which a child could inherit */
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			bits[i] = which_are_sampled();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	bits[2] = which_are_sampled();
	must(bits[0] != bits[1]);
	must(bits[0] != bits[2]);
	must(bits[1] != bits[2]);
}
END_TEST

Suite *pairing_suite(void)
{
	Suite *suite = suite_create("pairing");
	TCase *turns = tcase_create("take turns");

	tcase_add_test(turns, many_held);
	tcase_add_test(turns, threads_free_what_others_allocated);
	tcase_add_test(turns, a_block_that_grows);
	tcase_add_test(turns, a_realloc_that_fails);
	tcase_add_test(turns, a_realloc_to_nothing);
	tcase_add_test(turns, fork_amid_threads);
	tcase_add_test(turns, children_draw_for_themselves);
	suite_add_tcase(suite, turns);
	return suite;
}
