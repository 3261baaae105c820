/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_totals - the figures of one process, by device. Loop thread only.
 */
#pragma once

#include "bpf/abi.h"
#include "bpf/gpu.h"

#include <stddef.h>
#include <stdint.h>

enum { GPU_TOTALS_DEVICES = 32 }; /* figures of further devices are added to GPU_DEVICE_UNKNOWN */

/* Figures of one process on one device, since the process was first seen or last called exec. */
struct gpu_figures {
	uint32_t pid;
	uint8_t device;                          /* or GPU_DEVICE_UNKNOWN, GPU_DEVICE_HOST */
	char comm[TASK_COMM_BYTES];              /* any bytes */
	uint64_t in_use[GPU_MEMORY_COUNT], peak; /* bytes; the peak leaves TENSOR out */
	/* Memory that ends with its context does not count as freed. Failures are allocations that
	 * returned no memory. */
	uint64_t allocations, frees, failures;
	uint64_t launches, waits, wait_ns;
	uint64_t copies[GPU_DIRECTION_COUNT], copied_bytes[GPU_DIRECTION_COUNT];
	/* Bytes as the framework reports them. XLA reports none: there `tensors_allocated` is what
	 * the probes saw allocated. */
	uint64_t tensors_allocated, tensors_reserved;
	/* Rates per second over the last drained half, which spans a second or so. */
	double launches_s, waits_share; /* share: of one thread's time */
	double copied_bytes_s[GPU_DIRECTION_COUNT];
};

typedef int gpu_figures_fn(const struct gpu_figures *figures, void *ctx);

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
