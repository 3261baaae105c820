/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: every stack is main, level01 ... level12, leaf; hot60() takes 60 % of the time, hot30()
 * 30 % and hot10() 10 %. Frames differ: odd levels save every callee-saved register, even levels
 * only move the stack pointer. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

enum { UNIT = 15 * 1000 * 1000 };

#define LEAF(name)                             \
	static FRAME void name(uint64_t count) \
	{                                      \
		SPIN(count);                   \
	}

LEAF(hot60)
LEAF(hot30)
LEAF(hot10)

static FRAME void level12(int leaf)
{
	if (leaf == 0)
		hot60(6 * UNIT);
	else if (leaf == 1)
		hot30(3 * UNIT);
	else
		hot10(1 * UNIT);
}

#define ODD(name, next)                            \
	static FRAME void name(int leaf)           \
	{                                          \
		HOLD_REGISTERS_ACROSS(next(leaf)); \
	}

#define EVEN(name, next)                 \
	static FRAME void name(int leaf) \
	{                                \
		next(leaf);              \
	}

ODD(level11, level12)
EVEN(level10, level11)
ODD(level09, level10)
EVEN(level08, level09)
ODD(level07, level08)
EVEN(level06, level07)
ODD(level05, level06)
EVEN(level04, level05)
ODD(level03, level04)
EVEN(level02, level03)
ODD(level01, level02)

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		for (int leaf = 0; leaf < 3; leaf++)
			level01(leaf);
	}
	return 0;
}
