/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: nearly all CPU time is in libc, in qsort() and the comparisons that it calls. Runs until
 * killed or for SECONDS.
 */
#include "work.h"

enum { NUMBERS = 100 * 1000 };

static int compares(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static __attribute__((noipa)) void sorts(uint32_t *numbers, uint32_t seed)
{
	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] = seed = seed * 1664525 + 1013904223;
	qsort(numbers, NUMBERS, sizeof(*numbers), compares);
}

int main(int argc, char **argv)
{
	static uint32_t numbers[NUMBERS];
	double stop = deadline(argc, argv, 1);

	say_ready();
	for (uint32_t seed = 0; seconds_now(CLOCK_MONOTONIC) < stop; seed++)
		sorts(numbers, seed);
	return 0;
}
