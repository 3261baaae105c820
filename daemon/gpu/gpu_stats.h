/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_stats - what could not be done, and the totals that it refers to.
 */
#pragma once

#include "bpf/gpu.h"
#include "gpu/gpu_kernels.h"

#include <stdint.h>

/* FIGURE(name, type, help): what the daemon counts, in addition to what the kernel half counts. */
#define GPU_FIGURES(FIGURE)                                                                        \
	FIGURE(processes, gauge, "Processes that use GPUs")                                        \
	FIGURE(files, gauge, "Files with GPU probes")                                              \
	FIGURE(files_untrusted, counter,                                                           \
	       "Times that a file got no GPU probes because its user is not trusted")              \
	FIGURE(searches_put_off, counter,                                                          \
	       "Times that a file was not searched for CUDA yet for lack of room")                 \
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

struct gpu_stats {
#define COUNT(name, help) uint64_t name;
	GPU_COUNTS(COUNT)
#undef COUNT
#define FIGURE(name, type, help) uint64_t name;
	GPU_FIGURES(FIGURE)
#undef FIGURE
	struct gpu_kernels_stats kernels;
};
