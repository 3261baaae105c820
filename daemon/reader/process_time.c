/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel counts waits for a CPU in the second number of schedstat
 * (Documentation/scheduler/sched-stats).
 */
#include "reader/process_time.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <time.h>

enum { MAX_SCHEDSTAT_BYTES = 128 };

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
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;
	uint64_t ran_ns, waited_ns;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	if (buf_read_file(&bytes, path, MAX_SCHEDSTAT_BYTES) < 0)
		return 0;
	struct text text = text_of(buf_text(&bytes), bytes.len);
	return text_decimal(&text, &ran_ns) && text_char(&text, ' ') &&
	                       text_decimal(&text, &waited_ns)
	               ? waited_ns
	               : 0;
}
