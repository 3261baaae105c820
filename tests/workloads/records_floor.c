/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Not a workload but the least overhead of a profiler that names short processes: it has the kernel
 * write mmap, comm, fork and exit records on every CPU, and ignores them. The ring buffers are
 * mapped read-only, so the kernel overwrites them and never wakes this process.
 *
 *   records_floor                    those records only
 *   records_floor hooks HZ NAME...   also a BPF program that does nothing, at each of these raw
 *                                    tracepoints and at HZ ticks a second and CPU, of eight timers
 */
#include "work.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RING_PAGES = 32, TIMERS = 8 };

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

/* Loads the program "return 0". */
static int load_nothing(enum bpf_prog_type type)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (uintptr_t)nothing,
		.insn_cnt = sizeof(nothing) / sizeof(*nothing),
		.license = (uintptr_t) "Dual BSD/GPL",
	};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int hook(const char *name)
{
	union bpf_attr attr = {.raw_tracepoint = {.name = (uintptr_t)name}};

	attr.raw_tracepoint.prog_fd = (uint32_t)load_nothing(BPF_PROG_TYPE_RAW_TRACEPOINT);
	return (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

static int open_timer(int cpu, double hz, int program)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = (uint64_t)(1e9 * TIMERS / hz),
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -1 : ioctl(fd, PERF_EVENT_IOC_SET_BPF, program);
}

static int open_timers(int cpus, double hz)
{
	int program = load_nothing(BPF_PROG_TYPE_PERF_EVENT);

	for (int timer = 0; timer < cpus * TIMERS; timer++) {
		if (open_timer(timer / TIMERS, hz, program))
			return -1;
	}
	return 0;
}

static int open_all(int argc, char **argv)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (open_records(cpu))
			return -1;
	}
	if (argc < 3 || strcmp(argv[1], "hooks") != 0)
		return 0;
	for (int i = 3; i < argc; i++) {
		if (hook(argv[i]) < 0)
			return -1;
	}
	return open_timers(cpus, atof(argv[2]));
}

int main(int argc, char **argv)
{
	if (open_all(argc, argv)) {
		perror("records_floor");
		return 1;
	}
	say_ready();
	for (;;)
		pause();
}
