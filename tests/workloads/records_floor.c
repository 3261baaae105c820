/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Not a workload but a floor: it has the kernel write a record of every mapping, name, fork and
 * exit on every CPU, as a profiler that names short processes must, and does nothing with them. The
 * rings are mapped read-only, so the kernel overwrites them and nobody is ever woken.
 */
#include "work.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RING_PAGES = 32 };

static int open_records(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX / 2,
	};
	size_t bytes = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	return mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (open_records(cpu)) {
			perror("records_floor");
			return 1;
		}
	}
	say_ready();
	for (;;)
		pause();
}
