/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half of GPU profiling: the programs that probes run and their maps (bpf/gpu.h). The
 * other modules do not see the skeleton. Functions only make system calls; any thread.
 */
#pragma once

#include "bpf/gpu.h"
#include "bpf/user.h"
#include "kernel/bpf.h"

/* Program descriptors: entry and return in one, for kernels that have uprobe sessions; entry;
 * return. */
struct gpu_programs {
	int session, entry, leave;
};

/* The programs of the helper's static probes. */
struct gpu_told_programs {
	int launched, ran;
	int sites; /* the map static_sites */
};

struct gpu_kernel {
	struct bpf *bpf;
};

/* Loads the programs on the first call, which takes a few tenths of a second. 0 or a negative
 * errno. Not on the loop thread. */
int gpu_kernel_load(const struct gpu_kernel *kernel, struct gpu_programs *ret_programs);
int gpu_kernel_load_told(const struct gpu_kernel *kernel, struct gpu_told_programs *ret_programs);
/* Why the programs that probe CUDA's libraries could not be loaded, or "". */
const char *gpu_kernel_why(const struct gpu_kernel *kernel);
/* The ring buffer of events; negative before anything is loaded. */
int gpu_kernel_events(const struct gpu_kernel *kernel);
/* What users have lost of the ring; all zeros before anything is loaded. 0 or a negative errno. */
int gpu_kernel_ring_users(const struct gpu_kernel *kernel,
                          struct ring_user ret_users[ACCOUNT_PLACES]);
/* The hash key that places accounts in that array. */
struct hash_key gpu_kernel_hash_key(const struct gpu_kernel *kernel);
/* The probes' counts since the start, summed over all CPUs. */
int gpu_kernel_counts(const struct gpu_kernel *kernel, struct gpu_counts *ret_counts);
