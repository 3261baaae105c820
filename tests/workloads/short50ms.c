/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: uses 50 ms of CPU time (or argument SECONDS) in short_lived_work() and exits, before a
 * profiler that reads /proc once a second can see it.
 */
#include "work.h"

enum { SLICE = 200 * 1000 };

static __attribute__((noipa)) void short_lived_work(double cpu_seconds)
{
	while (seconds_now(CLOCK_PROCESS_CPUTIME_ID) < cpu_seconds)
		WORK(SLICE);
}

int main(int argc, char **argv)
{
	say_ready();
	short_lived_work(argc > 1 ? atof(argv[1]) : 0.050);
	return 0;
}
