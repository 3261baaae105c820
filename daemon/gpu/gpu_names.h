/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The names of kernels by handle, as one program gave them to CUDA's driver: mangled, any bytes.
 * Equal names are stored once, because the ranks of a job have the same ones. Bounded; what finds
 * no room is counted. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"

#include "base/shares.h"

#include <stddef.h>
#include <stdint.h>

enum {
	GPU_NAMES_MAX = 32 * 1024,  /* handles of one program; PyTorch has 24,000 kernels */
	GPU_NAMES_BYTES = 32 << 20, /* of all different names; one user alone gets half */
};

struct gpu_name;
struct gpu_named;

/* The names of all programs. */
struct gpu_names {
	struct gpu_name *by_hash;
	struct shares bytes; /* by user; charged to the first that reports a name */
	uint64_t seed;
	uint64_t count, lost; /* handles with a name; names that found no room */
};

/* The handles of one program. Initialize to zeroes, except for the owner. */
struct gpu_handles {
	uint32_t owner;
	struct gpu_named *by_handle;
	uint64_t seed;
};

void gpu_names_init(struct gpu_names *names);
void gpu_names_release(struct gpu_names *names); /* after gpu_names_forget() for all handles */
/* A handle may be used again for something else: its latest name counts. */
void gpu_names_add(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                   const char *bytes, size_t len);
/* Makes `handle` an alias of `known`. */
void gpu_names_add_again(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                         uint64_t known);
/* NULL: not known. */
const char *gpu_names_find(const struct gpu_handles *of, uint64_t handle);
void gpu_names_forget(struct gpu_names *names, struct gpu_handles *of);
