/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The answer of /gpu: the figures of the probes beside what NVIDIA's driver reports, as JSON or as
 * tables for people. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "gpu/gpu.h"
#include "gpu/nvml_report.h"

#include <jansson.h>

struct gpu_view {
	const struct gpu_figures *figures; /* by pid, then device */
	size_t count;
	const char *why;                  /* why the probes are off; "" when they are on */
	const struct nvml_report *report; /* NULL: no report */
	const char *nvml_why;             /* why there is no report; else "" */
};

/* All allocated memory except tensors, which lie in memory that is already counted. The peak is of
 * the same sum. */
uint64_t gpu_view_in_use(const struct gpu_figures *figures);
/* "0", "cpu" for the host, "unknown" */
void gpu_view_device(uint8_t device, char ret_name[16]);

/* What the driver reports for a process, summed over all devices. */
struct gpu_driver_row {
	uint32_t pid;
	bool first;               /* this is the first of the process's rows in the report */
	bool known;               /* `used` is known */
	uint64_t used, explained; /* explained by allocations, except those of host memory */
	uint32_t busy_percent;    /* of its busiest device, or NVML_PERCENT_UNKNOWN */
	const char *comm;         /* "" when the probes saw nothing of the process */
};

/* For the process at `index` of the report; there must be a report. */
struct gpu_driver_row gpu_view_driver(const struct gpu_view *view, uint32_t index);

/* Describes the unexplained part, for people. */
extern const char gpu_view_unexplained[];

/* NULL when out of memory. */
json_t *gpu_view_json(const struct gpu_view *view);
void gpu_view_text(const struct gpu_view *view, struct buf *out);
