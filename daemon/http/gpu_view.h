/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What /gpu answers: figures of the probes beside what NVIDIA's driver says, as JSON or as tables
 * for people. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "collect/gpu.h"
#include "gpu/nvml_report.h"

#include <jansson.h>

struct gpu_view {
	const struct gpu_figures *figures; /* by pid, then device */
	size_t count;
	const char *why;                  /* the probes are off; "" when they are on */
	const struct nvml_report *report; /* NULL: there is none */
	const char *nvml_why;             /* there is none; "" else */
};

/* All that is allocated, as the peak is of: but tensors, which lie in memory that is counted
 * already. */
uint64_t gpu_view_in_use(const struct gpu_figures *figures);
/* "0", "host", "unknown" */
void gpu_view_device(uint8_t device, char ret_name[16]);

/* What the driver says of a process, on all devices together. */
struct gpu_driver_row {
	uint32_t pid;
	bool first;               /* this row of the report is the first one of its process */
	bool known;               /* `used` is */
	uint64_t used, explained; /* by allocations of all but the host's memory */
	uint32_t busy_percent;    /* of its busiest device; NVML_PERCENT_UNKNOWN */
	const char *comm;         /* "" where the probes saw nothing of it */
};

/* Of the report's process `index`; there is a report. */
struct gpu_driver_row gpu_view_driver(const struct gpu_view *view, uint32_t index);

/* What is not explained, in words. */
extern const char gpu_view_unexplained[];

/* NULL when out of memory. */
json_t *gpu_view_json(const struct gpu_view *view);
void gpu_view_text(const struct gpu_view *view, struct buf *out);
