/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: starts PER_SECOND (2000) processes a second, or as many as the host can, at regular
 * intervals for SECONDS (1). A third of them executes a program, a third has a child of its own,
 * and a third only exits. Prints "NUMBER processes/s".
 */
#include "work.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_child(uint64_t number)
{
	if (number % 3 == 0)
		execl("/proc/self/exe", "forks", "child", (char *)NULL);
	if (number % 3 == 1 && fork() > 0)
		wait(NULL);
	_exit(0);
}

static void wait_until(double time)
{
	double left = time - seconds_now(CLOCK_MONOTONIC);
	struct timespec pause = {.tv_nsec = (long)(left * 1e9)};

	if (left > 0 && left < 1)
		nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		return 0;

	double per_second = argc > 2 ? atof(argv[2]) : 2000;
	double start = seconds_now(CLOCK_MONOTONIC);
	double stop = start + (argc > 1 ? atof(argv[1]) : 1.0);
	uint64_t started = 0;

	signal(SIGCHLD, SIG_IGN); /* the children are not waited for */
	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		pid_t child = fork();

		if (child == 0) {
			signal(SIGCHLD, SIG_DFL);
			be_child(started);
		}
		started += child > 0;
		wait_until(start + (double)started / per_second);
	}
	printf("%.0f processes/s\n", (double)started / (seconds_now(CLOCK_MONOTONIC) - start));
	return 0;
}
