/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: repeatedly takes 32 MiB in two seconds and frees all of them. It does not leak.
 */
#include "work.h"

#include <string.h>

enum { STEP = 256 * 1024, STEPS = 128 };

int main(void)
{
	const struct timespec pause = {.tv_nsec = 2 * (1000 * 1000 * 1000 / STEPS)};
	static char *steps[STEPS];

	say_ready();
	for (;;) {
		for (int i = 0; i < STEPS; i++) {
			steps[i] = malloc(STEP);
			if (!steps[i])
				return 1;
			memset(steps[i], 1, STEP);
			nanosleep(&pause, NULL);
		}
		for (int i = 0; i < STEPS; i++)
			free(steps[i]);
	}
}
