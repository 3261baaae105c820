/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main, jump_target, jumper_3, jumper_2, jumper_1, and then libc's longjmp back to
 * jump_target, about a hundred thousand times a second. Samples inside longjmp are walked while
 * longjmp replaces the stack pointer. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <setjmp.h>

enum { UNIT = 500 };

static jmp_buf back;

static FRAME void jumper_1(int value)
{
	SPIN(UNIT);
	longjmp(back, value);
}

static FRAME void jumper_2(int value)
{
	HOLD_REGISTERS_ACROSS(jumper_1(value));
}

static FRAME void jumper_3(int value)
{
	HOLD_REGISTERS_ACROSS(jumper_2(value));
}

static FRAME void jump_target(void)
{
	for (volatile int round = 0; round < 1000; round++) {
		if (setjmp(back) == 0)
			jumper_3(1);
	}
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop)
		jump_target();
	return 0;
}
