/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: hot60() takes 60 % of the CPU time, hot30() 30 % and hot10() 10 %, because they do the
 * same work 6, 3 and 1 times; every stack is main, level01 ... level12, leaf. Runs until killed or
 * for SECONDS. After BUSY seconds of CPU time it sleeps for four fifths of the time.
 *
 * A round lasts about 200 ms. Each leaf gets many timer ticks and each capture many rounds, so that
 * sampled shares are within one percentage point even at 99 Hz.
 */
#include "work.h"

#include <unistd.h>

enum { UNIT = 15 * 1000 * 1000 };

#define LEAF(name)                                                           \
	static __attribute__((noipa, aligned(64))) void name(uint64_t count) \
	{                                                                    \
		WORK(count);                                                 \
	}

LEAF(hot60)
LEAF(hot30)
LEAF(hot10)

static __attribute__((noipa)) void level12(int leaf)
{
	if (leaf == 0)
		hot60(6 * UNIT);
	else if (leaf == 1)
		hot30(3 * UNIT);
	else
		hot10(1 * UNIT);
}

#define LEVEL(name, next)                                 \
	static __attribute__((noipa)) void name(int leaf) \
	{                                                 \
		next(leaf);                               \
	}

LEVEL(level11, level12)
LEVEL(level10, level11)
LEVEL(level09, level10)
LEVEL(level08, level09)
LEVEL(level07, level08)
LEVEL(level06, level07)
LEVEL(level05, level06)
LEVEL(level04, level05)
LEVEL(level03, level04)
LEVEL(level02, level03)
LEVEL(level01, level02)

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1), busy = argc > 2 ? atof(argv[2]) : 1e300;

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		for (int leaf = 0; leaf < 3; leaf++)
			level01(leaf);
		if (seconds_now(CLOCK_PROCESS_CPUTIME_ID) > busy)
			usleep(800 * 1000);
	}
	return 0;
}
