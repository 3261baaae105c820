/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: leaks_memory() takes 2 MiB a second, touches them and never frees them; at 1 GiB it stops
 * and rests.
 */
#include "work.h"

#include <string.h>

enum { STEP = 256 * 1024, STEPS_PER_SECOND = 8, MAX_STEPS = 4096 };

static __attribute__((noipa)) void leaks_memory(void)
{
	char *step = malloc(STEP);

	if (!step)
		exit(1);
	memset(step, 1, STEP);
	__asm__ volatile("" : : "r"(step) : "memory");
}

int main(void)
{
	const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
	double begin = seconds_now(CLOCK_MONOTONIC);
	int steps = 0;

	say_ready();
	for (;;) {
		double due = (seconds_now(CLOCK_MONOTONIC) - begin) * STEPS_PER_SECOND;

		for (; steps < due && steps < MAX_STEPS; steps++)
			leaks_memory();
		nanosleep(&pause, NULL);
	}
}
