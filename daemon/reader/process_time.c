/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the clock of the process, and from its schedstat.
 */
#include "reader/process_time.h"

#include "base/cleanup.h"
#include "base/thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

uint64_t process_wait_ns(pid_t pid)
{
	_cleanup_close_ int schedstat = -1;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	schedstat = open(path, O_RDONLY | O_CLOEXEC);
	return thread_wait_ns(schedstat);
}
