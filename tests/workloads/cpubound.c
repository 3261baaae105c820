/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: one thread computes without system calls in the leaf of a stack of 12 levels. After
 * SECONDS (1) it prints "NUMBER iterations/s", per second of wall time.
 */
#include "work.h"

enum { SLICE = 100 * 1000, DEPTH = 12 };

static __attribute__((noipa)) uint64_t work_at_depth(int depth, double stop)
{
	if (depth > 0)
		return work_at_depth(depth - 1, stop);

	uint64_t iterations = 0;

	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		WORK(SLICE);
		iterations += SLICE;
	}
	return iterations;
}

int main(int argc, char **argv)
{
	say_ready();

	double start = seconds_now(CLOCK_MONOTONIC);
	uint64_t iterations = work_at_depth(DEPTH, start + (argc > 1 ? atof(argv[1]) : 1.0));

	printf("%.0f iterations/s\n", (double)iterations / (seconds_now(CLOCK_MONOTONIC) - start));
	return 0;
}
