/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 *     stacks_probed WHAT [SECONDS]
 *
 * Functions for return probes. Truth, by WHAT, leaf first:
 *   nested  probed_3, probed_2, between, probed_1, main; probed_3 spins.
 *   tail    tail_target, before_tail, main: before_tail calls tail_call, which jumps to the target.
 *   jumped  as nested, but called from after_jump, to which probed_left has just returned by
 *           longjmp.
 *   deep    probed_deep, 80 times, main: more nested calls than the kernel follows at once.
 *   short   probed_short, main; as many calls a second as possible.
 *   memory  functions that calloc calls or jumps to, fill_memory, main: clearing large blocks.
 * Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <malloc.h>
#include <setjmp.h>
#include <string.h>

enum { LONG = 2000000, SHORT = 3000, DEPTH = 80, BLOCK = 4 << 20 };

#if defined(__x86_64__)
#define JUMP "jmp"
#else
#define JUMP "b"
#endif

void tail_call(void);

__asm__(".text\n"
        ".type tail_call, %function\n"
        "tail_call:\n"
        ".cfi_startproc\n"
        "nop\n" JUMP " tail_target\n"
        ".cfi_endproc\n"
        ".size tail_call, . - tail_call\n");

static jmp_buf back;

FRAME void tail_target(void)
{
	SPIN(LONG);
}

static FRAME void before_tail(void)
{
	HOLD_REGISTERS_ACROSS(tail_call());
}

static FRAME void probed_3(void)
{
	SPIN(LONG);
}

static FRAME void probed_2(void)
{
	HOLD_REGISTERS_ACROSS(probed_3());
}

static FRAME void between(void)
{
	HOLD_REGISTERS_ACROSS(probed_2());
}

static FRAME void probed_1(void)
{
	HOLD_REGISTERS_ACROSS(between());
}

static FRAME void probed_left(void)
{
	longjmp(back, 1);
}

static FRAME void after_jump(void)
{
	if (setjmp(back) == 0)
		probed_left();
	probed_1();
}

static FRAME void probed_deep(int left)
{
	if (left > 1)
		HOLD_REGISTERS_ACROSS(probed_deep(left - 1));
	else
		SPIN(LONG);
}

static FRAME void probed_short(void)
{
	SPIN(SHORT);
}

static FRAME void fill_memory(void)
{
	void *block = calloc(1, BLOCK);

	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "nested";
	double stop = deadline(argc, argv, 2);
	void *first;

	/* Makes calloc() reuse a freed block: it does not clear new memory, which is 0 already. */
	mallopt(M_MMAP_THRESHOLD, 8 * BLOCK);
	mallopt(M_TRIM_THRESHOLD, 64 * BLOCK);
	first = malloc(BLOCK);
	__asm__ volatile("" : : "r"(malloc(BLOCK)), "r"(first) : "memory");
	free(first);
	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		for (int i = 0; i < 10; i++) {
			if (!strcmp(what, "nested"))
				probed_1();
			else if (!strcmp(what, "tail"))
				before_tail();
			else if (!strcmp(what, "jumped"))
				after_jump();
			else if (!strcmp(what, "deep"))
				probed_deep(DEPTH);
			else if (!strcmp(what, "short"))
				probed_short();
			else
				fill_memory();
		}
	}
	return 0;
}
