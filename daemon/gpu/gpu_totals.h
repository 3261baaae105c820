/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_totals - the figures of one process (gpu/gpu.h), by device. Loop thread only.
 */
#pragma once

#include "gpu/gpu.h"

enum { GPU_TOTALS_DEVICES = 32 }; /* figures of further devices are added to GPU_DEVICE_UNKNOWN */

/* What was counted in the half that is being drained. */
struct gpu_second {
	uint64_t launches, wait_ns, copied_bytes[GPU_DIRECTION_COUNT];
};

struct gpu_totals {
	struct gpu_total {
		struct gpu_figures figures;
		struct gpu_second second;
	} * at; /* by device */
	size_t count;
};

/* The figures of a device, made when there are none; NULL: out of memory. */
struct gpu_total *gpu_totals_of(struct gpu_totals *totals, uint8_t device);
void gpu_totals_release(struct gpu_totals *totals);

/* Each of these takes NULL. */
void gpu_total_allocated(struct gpu_total *total, enum gpu_memory memory, uint64_t bytes);
void gpu_total_gone(struct gpu_total *total, enum gpu_memory memory, uint64_t bytes);
void gpu_total_calls(struct gpu_total *total, const struct gpu_call_key *key,
                     const struct gpu_call *calls);
/* Called after the rows of a half of this length were added. */
void gpu_totals_end_second(struct gpu_totals *totals, uint64_t duration_ns);
