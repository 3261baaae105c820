/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What kernels are called, by handle, as one program told CUDA's driver: mangled, any bytes. The
 * names themselves are shared, as the ranks of a job have the same ones. Bounded; what finds no
 * room is counted. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"

#include "base/shares.h"

#include <stddef.h>
#include <stdint.h>

enum {
	GPU_NAMES_MAX = 32 * 1024,  /* handles of one program; PyTorch has 24,000 kernels */
	GPU_NAMES_BYTES = 32 << 20, /* of all different names; one user alone has half */
};

struct gpu_name;
struct gpu_named;

/* The names of all programs. */
struct gpu_names {
	struct gpu_name *by_hash;
	struct shares bytes; /* by user; who was first to tell a name has it */
	uint64_t seed;
	uint64_t count, lost; /* handles with a name; such that found no room */
};

/* Those of one; zero at first, but for the user whose it is. */
struct gpu_handles {
	uint32_t owner;
	struct gpu_named *by_handle;
	uint64_t seed;
};

void gpu_names_init(struct gpu_names *names);
void gpu_names_release(struct gpu_names *names); /* after all were forgotten */
/* A handle may be used again for something else: the latest name counts. */
void gpu_names_add(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                   const char *bytes, size_t len);
/* `handle` is another handle of what `known` is one of. */
void gpu_names_add_again(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                         uint64_t known);
/* NULL: not told. */
const char *gpu_names_find(const struct gpu_handles *of, uint64_t handle);
void gpu_names_forget(struct gpu_names *names, struct gpu_handles *of);
