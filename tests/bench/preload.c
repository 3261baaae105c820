/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures the time of a malloc() and its free(), in ns: the minimum of many rounds, since
 * everything else on the machine only adds to it. Prints a line for each pattern. Run it without
 * and with a library preloaded.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 300
#define PAIRS  20000
#define HELD   4096

static void *held[HELD];
static uint16_t sizes[PAIRS], places[PAIRS];

/* Frees each block at once, while it is hot in every cache: the shortest path in an allocator. */
static void pairs(void)
{
	for (int i = 0; i < PAIRS; i++) {
		void *volatile block = malloc(64);

		free(block);
	}
}

/*
 * Blocks of 16 to 1023 bytes, spread over megabytes. A block lives until 4096 others have been
 * allocated, on average.
 */
static void churn(void)
{
	for (int i = 0; i < PAIRS; i++) {
		void **place = &held[places[i]];

		free(*place);
		*place = malloc(sizes[i]);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} patterns[] = {{"pairs", pairs}, {"churn", churn}};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
	srand(1);
	for (int i = 0; i < PAIRS; i++) {
		sizes[i] = (uint16_t)(16 + rand() % 1008);
		places[i] = (uint16_t)(rand() % HELD);
	}
	for (size_t n = 0; n < sizeof(patterns) / sizeof(patterns[0]); n++) {
		double least = 1e18;

		for (int round = 0; round < ROUNDS; round++) {
			double start = now_ns(), took;

			patterns[n].run();
			took = now_ns() - start;
			least = took < least ? took : least;
		}
		printf("%s %.3f\n", patterns[n].name, least / PAIRS);
	}
	return 0;
}
