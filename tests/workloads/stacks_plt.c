/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main and call_tiny_functions call functions of libc of a few instructions each through the
 * procedure linkage table, so that many samples are in its stubs. There are no other stacks. Runs
 * until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <string.h>

enum { ROUNDS = 100 * 1000 };

static FRAME uint64_t call_tiny_functions(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < ROUNDS; i++)
		sum += (uint64_t)labs(-i) + (uint64_t)abs(-i) + (uint64_t)ffs(i) +
		       (uint64_t)ffsl(i);
	return sum;
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop)
		call_tiny_functions();
	return 0;
}
