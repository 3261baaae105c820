/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: every stack is main, with_alloca, with_vla, aligned_32, aligned_64, realigned_vla,
 * realigned_argument, huge_frame, leaf: frames whose size is unknown at compile time, and frames
 * that the compiler aligns. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <alloca.h>

enum { UNIT = 1000 * 1000, HUGE_BYTES = 200 * 1000 };

/* Makes the compiler assume that the memory is used; without a use there is no frame. */
#define TOUCH(memory) __asm__ volatile("" : : "r"(memory) : "memory")

#ifdef __x86_64__
#define REALIGN __attribute__((force_align_arg_pointer))
#else
#define REALIGN
#endif

static FRAME void leaf(void)
{
	SPIN(UNIT);
}

static FRAME void huge_frame(void)
{
	char bytes[HUGE_BYTES];

	TOUCH(bytes);
	HOLD_REGISTERS_ACROSS(leaf());
	TOUCH(bytes);
}

static FRAME REALIGN void realigned_argument(void)
{
	HOLD_REGISTERS_ACROSS(huge_frame());
}

/* Aligned and of unknown size at once, so its CFA is found through memory. */
static FRAME void realigned_vla(int size)
{
	_Alignas(64) char aligned[64];
	char bytes[size];

	TOUCH(aligned);
	TOUCH(bytes);
	realigned_argument();
	TOUCH(aligned);
	TOUCH(bytes);
}

static FRAME void aligned_64(int size)
{
	_Alignas(64) char aligned[128];

	TOUCH(aligned);
	HOLD_REGISTERS_ACROSS(realigned_vla(size));
	TOUCH(aligned);
}

static FRAME void aligned_32(int size)
{
	_Alignas(32) char aligned[96];

	TOUCH(aligned);
	aligned_64(size);
	TOUCH(aligned);
}

static FRAME void with_vla(int size)
{
	char bytes[size];

	TOUCH(bytes);
	HOLD_REGISTERS_ACROSS(aligned_32(size));
	TOUCH(bytes);
}

static FRAME void with_alloca(int size)
{
	char *bytes = alloca((size_t)size);

	TOUCH(bytes);
	with_vla(size);
	TOUCH(bytes);
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);
	int size = 16;

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		with_alloca(size);
		size = size * 7 % 4093 + 16;
	}
	return 0;
}
