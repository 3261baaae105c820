/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main, asker_3, asker_2, asker_1, libc's syscall(), then the kernel. Most samples are taken
 * in the kernel, where the user's registers are those saved at kernel entry. Runs until killed or
 * for SECONDS.
 */
#include "stacks_work.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { BATCH = 10000 };

static FRAME void asker_1(void)
{
	char bytes[64];
	int pair[2];

	if (pipe(pair) != 0)
		return;
	HOLD_REGISTERS_ACROSS(syscall(SYS_write, pair[1], bytes, sizeof(bytes)));
	syscall(SYS_getppid);
	close(pair[0]);
	close(pair[1]);
}

static FRAME void asker_2(void)
{
	HOLD_REGISTERS_ACROSS(asker_1());
}

static FRAME void asker_3(void)
{
	for (int i = 0; i < BATCH; i++)
		asker_2();
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop)
		asker_3();
	return 0;
}
