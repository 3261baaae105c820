/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: only forks, executes itself and exits, as fast as one CPU can: the hardest case for a
 * profiler that keeps a table of processes. Prints "NUMBER execs/s" at the end of SECONDS (1).
 */
#include "work.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		return 0;

	say_ready();

	double start = seconds_now(CLOCK_MONOTONIC);
	double stop = start + (argc > 1 ? atof(argv[1]) : 1.0);
	uint64_t execs = 0;

	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		pid_t child = vfork();

		if (child < 0)
			return 1;
		if (child == 0) {
			execl("/proc/self/exe", "execs", "child", (char *)NULL);
			_exit(127);
		}
		waitpid(child, NULL, 0);
		execs++;
	}
	printf("%.0f execs/s\n", (double)execs / (seconds_now(CLOCK_MONOTONIC) - start));
	return 0;
}
