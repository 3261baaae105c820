/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How the programs that heap.py measures speak with it: "ready", then a line from it, then
 * `seconds` of their own CPU time of rounds, then how many rounds a second that were, then they
 * wait for the end of their input, so that they can be asked about. By CPU time, because the
 * machine has others to serve; what probes take in the kernel counts as theirs.
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

/* Each call of `round_of_it` is some milliseconds of work. */
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
