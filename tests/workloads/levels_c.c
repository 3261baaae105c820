/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: in main, repeats, computes, and inlined there first_level, second_level, third_level, the
 * lines marked with a share take 60, 30 and 10 % of the time. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#define INLINED static inline __attribute__((always_inline))

/* A function that is not inlined, and has the one name. */
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

/* Calls out of inlined code: the callers' own lines are inlined ones too. */
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
