/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unit of work of all workloads: a chain of multiplications in which each one depends on the
 * one before, so that its time depends on the count only, not on code alignment or caches.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Uses the frame address because gcc omits the frame pointer of a leaf function that uses no stack,
 * whatever its options are, and then the leaf's caller would be missing from the stack. */
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

/* The time to stop: now plus the seconds in argument `index`, or never without that argument. */
static inline double deadline(int argc, char **argv, int index)
{
	return argc > index ? seconds_now(CLOCK_MONOTONIC) + atof(argv[index]) : 1e300;
}

/* Tells the waiting test that the process has started and its work is about to begin. */
static inline void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}
