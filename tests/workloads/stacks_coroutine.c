/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: three coroutines on stacks of their own take turns. Nearly all stacks are __start_context
 * (libc's, the outermost frame of a coroutine), coroutine, coroutine_step, coroutine_work. None of
 * them contains main, which is not their caller. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <stdbool.h>
#include <ucontext.h>

enum { UNIT = 200 * 1000, COROUTINES = 3, STACK_BYTES = 64 * 1024 };

static ucontext_t scheduler, coroutines[COROUTINES];

static FRAME void coroutine_work(void)
{
	SPIN(UNIT);
}

static FRAME void coroutine_step(int which)
{
	HOLD_REGISTERS_ACROSS(coroutine_work());
	swapcontext(&coroutines[which], &scheduler);
}

static FRAME void coroutine(int which)
{
	while (true)
		HOLD_REGISTERS_ACROSS(coroutine_step(which));
}

static void prepare_coroutines(void)
{
	static char stacks[COROUTINES][STACK_BYTES];

	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = stacks[i];
		coroutines[i].uc_stack.ss_size = STACK_BYTES;
		coroutines[i].uc_link = &scheduler;
		makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
	}
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	prepare_coroutines();
	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		for (int i = 0; i < COROUTINES; i++)
			swapcontext(&scheduler, &coroutines[i]);
	}
	return 0;
}
