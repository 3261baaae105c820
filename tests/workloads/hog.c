/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: holds 20 MiB and rests until a line arrives on its input. Then hog_takes_memory() takes
 * 32 MiB a second until the process holds as many MiB as the argument says; without an argument it
 * goes on until something kills it.
 */
#include "work.h"

#include <string.h>
#include <unistd.h>

enum { HELD_MIB = 20, MIB = 1 << 20, STEPS_PER_SECOND = 32 };

static __attribute__((noipa)) void hog_takes_memory(size_t bytes)
{
	char *memory = malloc(bytes);

	if (!memory)
		exit(1);
	memset(memory, 1, bytes);
	__asm__ volatile("" : : "r"(memory) : "memory");
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000 * 1000 / STEPS_PER_SECOND};
	int most = argc > 1 ? atoi(argv[1]) : INT32_MAX;

	hog_takes_memory((size_t)HELD_MIB * MIB);
	say_ready();
	if (getchar() == EOF)
		return 0;
	for (int held = HELD_MIB; held < most; held++) {
		hog_takes_memory(MIB);
		nanosleep(&pause, NULL);
	}
	for (;;)
		sleep(1);
}
