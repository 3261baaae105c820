/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unit of work all workloads are made of: a chain of multiplications in which each waits for
 * the one before, so that its time depends on the count alone, not on code alignment or cache.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The frame address is asked for because gcc leaves the frame pointer out of a leaf function that
 * uses no stack, whatever its options say, and with it the leaf's caller would be lost. */
#define WORK(count)                                                                \
	do {                                                                       \
		uint64_t work_x = 1;                                               \
		__asm__ volatile("" : : "r"(__builtin_frame_address(0)));          \
		for (uint64_t work_i = (count); work_i != 0; work_i--) {           \
			work_x = work_x * 6364136223846793005ULL + 1;              \
			__asm__ volatile("" : "+r"(work_x)); /* keeps the chain */ \
		}                                                                  \
	} while (0)

static inline double seconds_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The time at which to stop: argument `index` in seconds from now, or never. */
static inline double deadline(int argc, char **argv, int index)
{
	return argc > index ? seconds_now(CLOCK_MONOTONIC) + atof(argv[index]) : 1e300;
}

/* What a test waits for: the process is up and about to do its work. */
static inline void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}
