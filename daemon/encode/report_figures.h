/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct report_figures - what a report says beside how time was spent: sums of other kinds of
 * profile, of the same processes and time, and the memory that these hold.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* SUM(name, kind, value, label, of): the sum of that value of all samples of the kind whose label
 * is `of`; NULL: of all. The numbers of switches are estimates. Writes to disks that the kernel
 * does later belong to no process. */
#define REPORT_SUMS(SUM)                                      \
	SUM(disk_requests, block, 0, direction, NULL)         \
	SUM(disk_read_bytes, block, 1, direction, "read")     \
	SUM(disk_written_bytes, block, 1, direction, "write") \
	SUM(minor_faults, fault, 1, fault, "minor")           \
	SUM(major_faults, fault, 1, fault, "major")           \
	SUM(switches, offcpu, 0, state, NULL)                 \
	SUM(preemptions, offcpu, 0, state, "runnable")        \
	SUM(gpu_launches, gpu_launch, 0, call, NULL)          \
	SUM(gpu_copied_bytes, gpu_copy, 1, call, NULL)        \
	SUM(gpu_wait_ns, gpu_wait, 1, call, NULL)

#define SUM(name, kind, value, label, of) REPORT_##name,
enum report_sum { REPORT_SUMS(SUM) REPORT_SUM_COUNT };
#undef SUM

struct report_figures {
	struct {
		bool is_known; /* its kind is recorded */
		uint64_t value;
	} sums[REPORT_SUM_COUNT];
	uint32_t processes;       /* whose memory is known */
	uint64_t resident_bytes;  /* at the end */
	uint64_t resident_before; /* at the beginning */
};
