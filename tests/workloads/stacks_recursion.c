/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main, DEPTH (60) times odd_step and even_step in turn (odd_step first), bottom, where it
 * spends all its time. Arguments: DEPTH and SECONDS. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

enum { UNIT = 1000 * 1000 };

static void even_step(int depth, double stop);

static FRAME void bottom(double stop)
{
	while (seconds_now(CLOCK_MONOTONIC) < stop)
		SPIN(UNIT);
}

static FRAME void odd_step(int depth, double stop)
{
	if (depth <= 1)
		HOLD_REGISTERS_ACROSS(bottom(stop));
	else
		HOLD_REGISTERS_ACROSS(even_step(depth - 1, stop));
}

static FRAME void even_step(int depth, double stop)
{
	if (depth <= 1)
		bottom(stop);
	else
		odd_step(depth - 1, stop);
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 60;
	double stop = deadline(argc, argv, 2);

	say_ready();
	odd_step(depth, stop);
	return 0;
}
