/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_kernels - the kernels whose durations programs with libprofd-cuda.so tell of, under
 * the stacks that launched them. A launch is told when it is made and its kernels when they have
 * run, some seconds later, by another thread: launches wait for them here, those of a process's
 * program by their correlation numbers. A graph's launch has many kernels, so none is forgotten
 * because one has come; launches are forgotten by age. Loop thread only.
 *
 * A program may tell anything, and as much as it likes: what is kept has bounds, to which the
 * oldest launches of the account with most of them fall victim. Kernels without a launch are shown
 * under "[launch not known]".
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/gpu.h"
#include "collect/drain.h"
#include "collect/gpu.h"

struct gpu_kernels;

enum {
	MAX_GPU_LAUNCHES = 64 * 1024,    /* that wait, of all processes */
	MAX_GPU_LAUNCH_BYTES = 24 << 20, /* of their stacks */
	GPU_LAUNCH_KEPT_S = 30,          /* a kernel that takes longer to be told has no launch */
	MAX_GPU_KERNELS_BUILT = 256 * 1024, /* kinds of them in a slice; half for an account that is
	                                       alone, and more are lost */
};

/* Keeps a copy of `tables`, and what is in them outlives it; NULL when out of memory. */
struct gpu_kernels *gpu_kernels_new(const struct drain_tables *tables);
void gpu_kernels_free(struct gpu_kernels *kernels); /* takes NULL */
DEFINE_CLEANUP(struct gpu_kernels *, gpu_kernels_free)

/* GPU_EVENT_LAUNCHED; `words` are event->words of its stack. */
void gpu_kernels_launched(struct gpu_kernels *kernels, const struct gpu_event *event,
                          const uint64_t *words);
/* GPU_EVENT_RAN; `name` has event->words of 8 bytes. */
void gpu_kernels_ran(struct gpu_kernels *kernels, const struct gpu_event *event, const void *name);
/* Adds what ran since it was asked before, as samples of KIND_gpu_kernel, and says how many times a
 * kernel was told of; forgets launches that were made too long before the half's end. 0 or -ENOMEM;
 * then that is lost. */
int gpu_kernels_fill(struct gpu_kernels *kernels, struct half *half, struct builder *into,
                     uint64_t *ret_told);
void gpu_kernels_get_stats(const struct gpu_kernels *kernels, struct gpu_kernels_stats *ret_stats);
