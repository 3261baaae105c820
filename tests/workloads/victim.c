/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: all CPU time is in victim_spins_00(), called from main. Runs until killed, or until it has
 * used SECONDS of CPU time. It sleeps for half of the time, because many run at once and a few
 * samples suffice. Tests make copies of the file in which the function has another name of the same
 * length.
 */
#include "work.h"

#include <unistd.h>

enum { SLICE = 8 * 1000 * 1000, REST_US = 10 * 1000 };

static __attribute__((noipa)) void victim_spins_00(double cpu_seconds)
{
	while (seconds_now(CLOCK_PROCESS_CPUTIME_ID) < cpu_seconds) {
		WORK(SLICE);
		usleep(REST_US);
	}
}

int main(int argc, char **argv)
{
	say_ready();
	victim_spins_00(argc > 1 ? atof(argv[1]) : 1e300);
	return 0;
}
