/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct nvml_report - what NVIDIA's driver reports of its devices and of the processes that use
 * them. The reader process that asks the driver answers with it (gpu/nvml_library.h), and the
 * daemon takes it (gpu/nvml.h). Numbers are as in memory; nothing in it is trusted before
 * nvml_report_check(). Pure; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	NVML_DEVICES = 32,
	NVML_PROCESSES = 512, /* a row for each device that a process uses */
	NVML_TEXT = 96,       /* nvml.h: the longest name or UUID of a device */
	NVML_PERCENT_UNKNOWN = 0xff,
};
#define NVML_BYTES_UNKNOWN UINT64_MAX

struct nvml_device {
	uint64_t total, used; /* bytes; NVML_BYTES_UNKNOWN */
	/* For the last sampling period, some 1/6 to 1 s: how much of it any kernel ran, and memory
	 * was read or written. NVML_PERCENT_UNKNOWN. */
	uint32_t busy_percent, memory_percent;
	char name[NVML_TEXT], uuid[NVML_TEXT]; /* any bytes, NUL-terminated */
};

struct nvml_process {
	uint32_t pid;
	uint32_t device;       /* index in devices */
	uint64_t used;         /* bytes of the device's memory; NVML_BYTES_UNKNOWN */
	uint32_t busy_percent; /* use of the device by this process; NVML_PERCENT_UNKNOWN */
	uint32_t unused;
};

struct nvml_report {
	uint32_t device_count, process_count;
	uint32_t devices_left_out, processes_left_out; /* for lack of room */
	char why[NVML_TEXT];                           /* why there are none; "" otherwise */
	struct nvml_device devices[NVML_DEVICES];
	struct nvml_process processes[NVML_PROCESSES];
};

/* 0, or -EBADMSG where the bytes are no valid report. */
int nvml_report_check(const uint8_t *bytes, size_t len);
