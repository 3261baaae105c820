/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What watching GPUs has in the kernel: the programs that probes run and their maps (bpf/gpu.h).
 * The daemon's other halves of it see no skeleton. Functions only make system calls; any thread.
 */
#pragma once

#include "bpf/gpu.h"
#include "bpf/user.h"
#include "collect/bpf.h"

/* Programs, by descriptor: entry and return in one, for kernels that have sessions; entry; return.
 */
struct gpu_programs {
	int session, entry, leave;
};

/* Of the helper's static probes. */
struct gpu_told_programs {
	int launched, ran;
	int sites; /* the map static_sites */
};

struct gpu_kernel {
	struct bpf *bpf;
};

/* Loads the programs when they are first asked for: some tenths of a second. 0 or a negative errno.
 * Not on the loop thread. */
int gpu_kernel_load(const struct gpu_kernel *kernel, struct gpu_programs *ret_programs);
int gpu_kernel_load_told(const struct gpu_kernel *kernel, struct gpu_told_programs *ret_programs);
/* Why those that probe CUDA's libraries could not be, or "". */
const char *gpu_kernel_why(const struct gpu_kernel *kernel);
/* The ring buffer of events; negative before anything is loaded. */
int gpu_kernel_events(const struct gpu_kernel *kernel);
/* What users have lost of it; all zeros before anything is loaded. 0 or a negative errno. */
int gpu_kernel_ring_users(const struct gpu_kernel *kernel,
                          struct ring_user ret_users[ACCOUNT_PLACES]);
/* By which accounts have their places in that. */
struct hash_key gpu_kernel_hash_key(const struct gpu_kernel *kernel);
/* What the probes came to ever since the start, on all CPUs. */
int gpu_kernel_counts(const struct gpu_kernel *kernel, struct gpu_counts *ret_counts);
