/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What kernels are called, by handle, as one program told CUDA's driver: mangled, any bytes. The
 * names themselves are shared, as the ranks of a job have the same ones. Bounded; what finds no
 * room is counted. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

enum {
	GPU_NAMES_MAX = 32 * 1024,  /* handles of one program; PyTorch has 24,000 kernels */
	GPU_NAMES_BYTES = 16 << 20, /* of all different names */
};

struct gpu_name;
struct gpu_named;

/* The names of all programs. */
struct gpu_names {
	struct gpu_name *by_hash;
	size_t bytes;
	uint64_t seed;
	uint64_t count, lost; /* handles with a name; such that found no room */
};

/* Those of one; zero at first. */
struct gpu_handles {
	struct gpu_named *by_handle;
	uint64_t seed;
};

void gpu_names_init(struct gpu_names *names);
/* A handle may be used again for something else: the latest name counts. */
void gpu_names_add(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                   const char *bytes, size_t len);
/* `handle` is another handle of what `known` is one of. */
void gpu_names_add_again(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                         uint64_t known);
/* NULL: not told. */
const char *gpu_names_find(const struct gpu_handles *of, uint64_t handle);
void gpu_names_forget(struct gpu_names *names, struct gpu_handles *of);
