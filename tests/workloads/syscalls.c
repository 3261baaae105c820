/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: only calls getppid(), the cheapest system call, and prints the time of one call:
 * "NUMBER ns/call" at the end of SECONDS (1).
 */
#include "work.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { BATCH = 10000 };

/* An extra call level below main(). libc's syscall() has no frame, so a walk along frame pointers
 * misses its caller but finds the caller of that. */
static __attribute__((noipa)) void ask_for_parent(void)
{
	syscall(SYS_getppid);
}

int main(int argc, char **argv)
{
	double start = seconds_now(CLOCK_MONOTONIC);
	double stop = start + (argc > 1 ? atof(argv[1]) : 1.0);
	double now = start;
	uint64_t calls = 0;

	say_ready();
	while (now < stop) {
		for (int i = 0; i < BATCH; i++)
			ask_for_parent();
		calls += BATCH;
		now = seconds_now(CLOCK_MONOTONIC);
	}
	printf("%.3f ns/call\n", (now - start) / (double)calls * 1e9);
	return 0;
}
