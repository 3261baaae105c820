/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu - everything about GPUs: which processes have CUDA's driver mapped and where it is
 * probed (cuda/gpu_standing.h), what the probes reported (gpu/gpu_feeds.h), and the slices
 * and figures made from that. Nothing is attached, and nothing is done, until a process maps
 * libcuda.so.1 or PyTorch. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/gpu.h"
#include "ingest/drain.h"
#include "ingest/source.h"
#include "memory/keepsakes.h"
#include "profile/profile.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <uv.h>

struct gpu;

/* The configuration. Everything it refers to outlives struct gpu. */
struct gpu_config {
	uv_loop_t *loop;
	struct bpf *bpf;
	struct drain_tables tables;
	/* Brings the process table, and what is known of interpreted code, up to date. */
	void (*read_tables)(void *ctx);
	/* Of all sources. `own`, `on` and `why` are set for the GPU kinds only. */
	struct source_state *states;
	bool off; /* nothing is attached */
	/* An allocation failed for lack of GPU memory. The keepsake holds the profile of the memory
	 * that the process held at that moment; the callee takes over the profile. */
	void (*out_of_memory)(const struct keepsake *what, void *ctx);
	void *ctx;
};

int gpu_new(const struct gpu_config *config, struct gpu **ret_gpu);
void gpu_start(struct gpu *gpu);
/* Detaches. The loop then runs until the handles have closed; gpu_free() comes after that. */
void gpu_stop(struct gpu *gpu);
void gpu_free(struct gpu *gpu); /* takes NULL */

/* Reads all events that the probes have reported so far. */
void gpu_read(struct gpu *gpu);
/* The hooks of the GPU sources, see ingest/source.h. gpu_read_before_drain() does not read the
 * tables: before a drain they are up to date. */
void gpu_read_before_drain(struct gpu *gpu);
int gpu_fill(struct gpu *gpu, struct half *half, enum profile_kind kind, struct builder *into,
             uint64_t *ret_samples);
void gpu_filled(struct gpu *gpu, uint64_t length_ns);
int gpu_in_use(struct gpu *gpu, enum profile_kind kind, struct builder *into);

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

/* Goes by pid, then by device. Stops when `fn` returns non-zero, and returns that value. */
typedef int gpu_figures_fn(const struct gpu_figures *figures, void *ctx);
int gpu_each(const struct gpu *gpu, gpu_figures_fn *fn, void *ctx);

/* Why nothing is known of GPUs; "" where the probes of the driver's calls or of tensors are on. */
const char *gpu_why_off(const struct gpu *gpu);

/* FIGURE(name, type, help): what the daemon counts, in addition to what the kernel half counts. */
#define GPU_FIGURES(FIGURE)                                                                        \
	FIGURE(processes, gauge, "Processes that use GPUs")                                        \
	FIGURE(files, gauge, "Files with GPU probes")                                              \
	FIGURE(files_untrusted, counter,                                                           \
	       "Times that a file got no GPU probes because its user is not trusted")              \
	FIGURE(sites, gauge, "Functions with GPU probes")                                          \
	FIGURE(names, gauge, "GPU kernels whose names are known")                                  \
	FIGURE(unmatched, counter, "Frees of GPU memory whose allocation was not seen")            \
	FIGURE(table_full, counter, "Allocations of GPU memory not kept for lack of room")         \
	FIGURE(stacks_full, counter, "Stacks of GPU memory allocations not kept for lack of room") \
	FIGURE(contexts_full, counter,                                                             \
	       "Allocations of GPU memory kept without their context for lack of room")            \
	FIGURE(maps_full, counter, "Mappings of physical GPU memory not kept for lack of room")    \
	FIGURE(processes_lost, counter,                                                            \
	       "GPU events lost because there was no room for their process")                      \
	FIGURE(malformed, counter, "Malformed GPU events")                                         \
	FIGURE(names_lost, counter,                                                                \
	       "Names of GPU kernels lost for lack of room or because reading failed")

/*
 * COUNT(name, help): what programs with libprofd-cuda.so report (gpu/gpu_kernels.h). Shown with
 * the prefix "told_".
 */
#define GPU_KERNEL_COUNTS(COUNT)                                                                  \
	COUNT(launches, "Sampled launches of GPU kernels that libprofd-cuda.so reported")         \
	COUNT(launches_lost, "Launches reported by libprofd-cuda.so and lost for lack of memory") \
	COUNT(launches_unused,                                                                    \
	      "Launches reported by libprofd-cuda.so of which no kernel was reported")            \
	COUNT(kernels, "Durations of GPU kernels that libprofd-cuda.so reported")                 \
	COUNT(kernels_unplaced,                                                                   \
	      "Durations of GPU kernels whose launch was not reported or was dropped")            \
	COUNT(kernels_lost, "Durations of GPU kernels missing from profiles for lack of room")

struct gpu_kernels_stats {
#define COUNT(name, help) uint64_t name;
	GPU_KERNEL_COUNTS(COUNT)
#undef COUNT
};

/* What could not be done, and the totals that it refers to. */
struct gpu_stats {
#define COUNT(name, help) uint64_t name;
	GPU_COUNTS(COUNT)
#undef COUNT
#define FIGURE(name, type, help) uint64_t name;
	GPU_FIGURES(FIGURE)
#undef FIGURE
	struct gpu_kernels_stats kernels;
};

void gpu_get_stats(const struct gpu *gpu, struct gpu_stats *ret_stats);
void gpu_add_reader_stats(const struct gpu *gpu, struct reader_stats *stats);
