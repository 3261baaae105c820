/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: vforks and executes itself (found by argv[0]) in a loop; each child uses 30 ms of CPU time
 * in main, child_middle, child_work and exits. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLICE = 200 * 1000 };

static FRAME void child_work(void)
{
	while (seconds_now(CLOCK_PROCESS_CPUTIME_ID) < 0.030)
		SPIN(SLICE);
}

static FRAME void child_middle(void)
{
	HOLD_REGISTERS_ACROSS(child_work());
}

static FRAME int run_child(const char *self)
{
	pid_t child = vfork();

	if (child == 0) {
		execl(self, self, "child", (char *)NULL);
		_exit(127);
	}
	return child < 0 ? -1 : waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		child_middle();
		return 0;
	}
	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		if (run_child(argv[0]) < 0)
			return 1;
	}
	return 0;
}
