/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main, DEPTH (60) times step, bottom, as in stacks_recursion; but bottom reads more memory
 * than the caches hold, as on a machine that runs other programs between two samples. Arguments:
 * DEPTH and SECONDS. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <string.h>

enum { BYTES = 64 << 20, LINE = 64 };

static FRAME void bottom(volatile char *memory, double stop)
{
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		for (size_t at = 0; at < BYTES; at += LINE)
			memory[at]++;
	}
}

static FRAME void step(int depth, char *memory, double stop)
{
	if (depth <= 1)
		HOLD_REGISTERS_ACROSS(bottom(memory, stop));
	else
		HOLD_REGISTERS_ACROSS(step(depth - 1, memory, stop));
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 60;
	double stop = deadline(argc, argv, 2);
	char *memory = malloc(BYTES);

	if (!memory)
		return 1;
	memset(memory, 1, BYTES);
	say_ready();
	step(depth, memory, stop);
	return 0;
}
