/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: COUNT (1000) processes that do nothing, each of which has executed a program. They end
 * with the process that started them.
 */
#include "work.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000;

	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl("/bin/sleep", "sleep", "infinity", (char *)NULL);
			_exit(127);
		}
	}
	say_ready();
	for (;;)
		pause();
}
