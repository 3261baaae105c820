/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Deep stacks: COUNT processes that spin for a millisecond or so at the bottom of LEVELS calls of
 * left() or right(), drawn at random, and then do so again: no tick finds a stack that it has seen,
 * and 250 of them, of two frames each, are as many as are kept of a stack.
 *
 * Stacks of other users' programs must be kept, also those that are new all the time, and so must
 * their past.
 */
#include "attack.h"

enum { SPINS = 1000 * 1000 };

static void descend(uint64_t path, long level);

static __attribute__((noipa)) void left(uint64_t path, long level)
{
	descend(path, level);
	__asm__ volatile("");
}

static __attribute__((noipa)) void right(uint64_t path, long level)
{
	descend(path, level);
	__asm__ volatile("");
}

static __attribute__((noipa)) void spin(void)
{
	for (int i = 0; i < SPINS; i++)
		__asm__ volatile("");
}

static uint64_t next_random(uint64_t random)
{
	return random * 6364136223846793005ULL + 1442695040888963407ULL;
}

static void descend(uint64_t path, long level)
{
	if (level == 0)
		spin();
	else if (path >> 63)
		left(next_random(path), level - 1);
	else
		right(next_random(path), level - 1);
}

static void descend_on(long levels)
{
	for (uint64_t path = next_random((uint64_t)getpid() << 32);; path = next_random(path))
		descend(path, levels);
}

int main(int argc, char **argv)
{
	long levels = number(argc, argv, 1, 250), count = number(argc, argv, 2, 1);

	for (long i = 1; i < count; i++)
		if (fork_with() == 0)
			descend_on(levels);
	say_ready();
	descend_on(levels);
}
