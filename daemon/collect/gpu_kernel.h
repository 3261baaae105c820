/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What watching GPUs has in the kernel: the programs that probes run and their maps (bpf/gpu.h).
 * The daemon's other halves of it see no skeleton. Functions only make system calls; any thread.
 */
#pragma once

#include "bpf/gpu.h"
#include "collect/bpf.h"

/* Programs, by descriptor: entry and return in one, for kernels that have sessions; entry; return;
 * the helper's static probes. */
struct gpu_programs {
	int session, entry, leave, launched, ran;
};

struct gpu_kernel {
	struct gpu_programs programs;
	int events, counts; /* maps */
	u32 cpu_count;
};

/* Between bpf_open() and bpf_load(): what kinds of uprobe the programs are for. */
void gpu_kernel_configure(struct bpf *bpf);
/* After bpf_load(). */
void gpu_kernel_open(struct gpu_kernel *kernel, struct bpf *bpf);
/* What the probes came to ever since the start, on all CPUs. */
int gpu_kernel_counts(const struct gpu_kernel *kernel, struct gpu_counts *ret_counts);
