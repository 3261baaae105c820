/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: two processes on one CPU pass a byte back and forth through two pipes, so each round trip
 * takes two context switches. Prints "NUMBER round-trips/s" at the end of SECONDS (1).
 */
#include "work.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Stays on one CPU: across two CPUs, waking the idle one would take most of the time. */
static void stay_on_this_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

int main(int argc, char **argv)
{
	int ping[2], pong[2];
	uint64_t trips = 0;
	char byte = 0;

	stay_on_this_cpu();
	if (pipe(ping) != 0 || pipe(pong) != 0)
		return 1;
	pid_t child = fork();

	if (child < 0)
		return 1;
	if (child == 0) {
		close(ping[1]);
		answer(ping[0], pong[1]);
	}
	say_ready();

	double start = seconds_now(CLOCK_MONOTONIC);
	double stop = start + (argc > 1 ? atof(argv[1]) : 1.0);
	double now = start;

	while (now < stop) {
		for (int i = 0; i < 100; i++) {
			if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
				return 1;
		}
		trips += 100;
		now = seconds_now(CLOCK_MONOTONIC);
	}
	printf("%.0f round-trips/s\n", (double)trips / (now - start));
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	return 0;
}
