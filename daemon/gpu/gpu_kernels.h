/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_kernels - the kernels whose durations programs with libprofd-cuda.so report, under the
 * stacks that launched them. A launch is reported when it is made. Its kernels are reported when
 * they have run, some seconds later, by another thread. Launches wait here for their kernels, found
 * by program and correlation number. A graph's launch has many kernels, so a launch is not
 * forgotten when a kernel of it has come; launches are forgotten by age. Loop thread only.
 *
 * A program may report anything, and as much as it likes. So what is kept is bounded: the oldest
 * launches of the account with most of them are dropped. Kernels without a launch are shown under
 * "[launch not known]". A time that is longer than a kernel can have run is cut, so that a report
 * does not hide those of all other programs.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/gpu.h"
#include "ingest/drain.h"
#include "profile/builder.h"

struct gpu_kernels;

enum {
	GPU_LAUNCH_KEPT_S = 30, /* a kernel that is reported later than this finds no launch */
	/* Of a slice: the kinds of kernels in it, their names and stacks. An account that is alone
	 * gets half, some 10,000 kinds; what it reports beyond that is lost. */
	MAX_GPU_KERNELS_BYTES = 8 << 20,
	/* What a report stands for at most. Its weight is for launches of one kernel by one thread,
	 * one after the other: they are sampled because there are many in a second, so an hour of
	 * GPU time is more than they take. */
	MAX_GPU_TOLD_S = 3600,
};

#define MAX_GPU_TOLD_NS (MAX_GPU_TOLD_S * 1000000000ULL)
/* A million kernels a second for that time. */
#define MAX_GPU_KERNELS_TOLD (MAX_GPU_TOLD_S * 1000000ULL)

/* Keeps a copy of `tables`. What `tables` points to outlives struct gpu_kernels. NULL when out of
 * memory. */
struct gpu_kernels *gpu_kernels_new(const struct drain_tables *tables);
void gpu_kernels_free(struct gpu_kernels *kernels); /* takes NULL */
DEFINE_CLEANUP(struct gpu_kernels *, gpu_kernels_free)

/* Takes a GPU_EVENT_LAUNCHED; `words` are the event->words words of its stack. */
void gpu_kernels_launched(struct gpu_kernels *kernels, const struct gpu_event *event,
                          const uint64_t *words);
/* Takes a GPU_EVENT_RAN; `name` has event->words words of 8 bytes. */
void gpu_kernels_ran(struct gpu_kernels *kernels, const struct gpu_event *event, const void *name);
/* Adds the kernels reported since the previous call, as samples of KIND_gpu_kernel, and returns how
 * many reports there were. Forgets launches that were made too long before the half's end. 0 or
 * -ENOMEM; on -ENOMEM those kernels are lost. */
int gpu_kernels_fill(struct gpu_kernels *kernels, struct half *half, struct builder *into,
                     uint64_t *ret_told);
/* COUNT(name, help). Shown with the prefix "told_". */
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

void gpu_kernels_get_stats(const struct gpu_kernels *kernels, struct gpu_kernels_stats *ret_stats);
