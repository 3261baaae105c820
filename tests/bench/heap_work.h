/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The protocol between heap.py and the programs that it measures. The program prints "ready", reads
 * a line, works in rounds for `seconds` of its own CPU time, prints its rounds a second, and then
 * waits for the end of its input, so that a profiler can still inspect it. The rate is by CPU time,
 * because other programs use the machine as well; the time that probes take in the kernel counts as
 * the program's.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A call of `round_of_it` takes some milliseconds. */
static inline int work_for(int argc, char **argv, void (*round_of_it)(void))
{
	char line[16];
	double seconds = argc > 1 ? atof(argv[1]) : 1, start, now;
	long rounds = 0;

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	start = cpu_time();
	do {
		round_of_it();
		rounds++;
		now = cpu_time();
	} while (now - start < seconds);
	printf("%.4f\n", (double)rounds / (now - start));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
