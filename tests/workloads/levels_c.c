/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main, repeats, computes, with first_level, second_level and third_level inlined into it;
 * each line marked with a share takes that share. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#define INLINED static inline __attribute__((always_inline))

/* A function that is neither inlined nor cloned under another name. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART FRAME
#endif

enum { UNIT = 1000 * 1000 };

INLINED uint64_t third_level(uint64_t count)
{
	SPIN(6 * count); /* share 60 */
	return count;
}

INLINED uint64_t second_level(uint64_t count)
{
	SPIN(3 * count); /* share 30 */
	return third_level(count);
}

INLINED uint64_t first_level(uint64_t count)
{
	SPIN(1 * count); /* share 10 */
	return second_level(count);
}

APART static uint64_t computes(uint64_t count)
{
	return first_level(count) + 1;
}

/* Calls from inlined code, so the call sites are inlined lines as well. */
INLINED uint64_t one_round(void)
{
	return computes(UNIT) + 1;
}

APART static uint64_t repeats(void)
{
	return one_round() + 1;
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);
	uint64_t sum = 0;

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop)
		sum += repeats();
	return sum == 0;
}
