/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Deep stacks: COUNT processes that repeatedly spin for about a millisecond at the bottom of LEVELS
 * random calls of left() or right(), or if the third argument is 1, sleep for as short as they can.
 * Each tick or wait finds a new stack. A stack holds 250 such levels of two frames each.
 *
 * The stacks of other users' programs must be kept, also stacks that are always new, and so must
 * their history.
 */
#include "attack.h"

#include <stdbool.h>
#include <time.h>

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

static bool sleeps;

static __attribute__((noipa)) void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
}

static uint64_t next_random(uint64_t random)
{
	return random * 6364136223846793005ULL + 1442695040888963407ULL;
}

static void descend(uint64_t path, long level)
{
	if (level == 0 && sleeps)
		nap();
	else if (level == 0)
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

	sleeps = number(argc, argv, 3, 0);
	for (long i = 1; i < count; i++)
		if (fork_with() == 0)
			descend_on(levels);
	say_ready();
	descend_on(levels);
}
