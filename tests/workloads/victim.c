/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: all its CPU time is in victim_spins_00(), called from main. Runs until killed, or until it
 * has used SECONDS of CPU time. Tests make copies of the file in which the function has another
 * name of the same length.
 */
#include "work.h"

enum { SLICE = 200 * 1000 };

static __attribute__((noipa)) void victim_spins_00(double cpu_seconds)
{
	while (seconds_now(CLOCK_PROCESS_CPUTIME_ID) < cpu_seconds)
		WORK(SLICE);
}

int main(int argc, char **argv)
{
	say_ready();
	victim_spins_00(argc > 1 ? atof(argv[1]) : 1e300);
	return 0;
}
