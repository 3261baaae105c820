/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: spins in first_program_spins() for SECONDS (2) of CPU time, then executes the program
 * `second` from the same folder, which spins in second_program_spins() for as long. Both are linked
 * to the same addresses, so looking up an address in the wrong one gives a wrong name.
 */
#include "work.h"

#include <string.h>
#include <unistd.h>

static __attribute__((noipa)) void first_program_spins(double stop)
{
	while (seconds_now(CLOCK_PROCESS_CPUTIME_ID) < stop)
		WORK(1000 * 1000);
}

int main(int argc, char **argv)
{
	const char *seconds = argc > 1 ? argv[1] : "2";
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof("second"));

	if (len < 0)
		return 1;
	path[len] = '\0';
	char *slash = strrchr(path, '/');

	if (slash == NULL)
		return 1;
	memcpy(slash + 1, "second", sizeof("second"));

	say_ready();
	first_program_spins(seconds_now(CLOCK_PROCESS_CPUTIME_ID) + atof(seconds));
	execl(path, "second", seconds, (char *)NULL);
	return 1;
}
