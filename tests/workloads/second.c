/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: spins in second_program_spins() for SECONDS (2) of CPU time. reexec executes it.
 */
#include "work.h"

static __attribute__((noipa)) void second_program_spins(double stop)
{
	while (seconds_now(CLOCK_PROCESS_CPUTIME_ID) < stop)
		WORK(1000 * 1000);
}

int main(int argc, char **argv)
{
	say_ready();
	second_program_spins(seconds_now(CLOCK_PROCESS_CPUTIME_ID) +
	                     (argc > 1 ? atof(argv[1]) : 2.0));
	return 0;
}
