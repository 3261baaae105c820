/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the functions of gpu/calls.h are in a file, and where a probe in each is cheap. Read by a
 * reader process, so what stands here is also the form of its answer. Pure.
 */
#pragma once

#include "base/cleanup.h"
#include "gpu/calls.h"
#include "object/elf.h"

#include <stddef.h>

enum {
	MAX_GPU_SITES = 512, /* of a file; a driver with all calls and their variants has 200 */
	MAX_GPU_PUSHED = 128,
};

struct gpu_site {
	uint64_t offset; /* in the file, of the instruction that is probed */
	uint8_t call;    /* as gpu_call_name() knows it */
	uint8_t pushed;  /* as in the cookie */
	uint8_t emulated;
	uint8_t unused[5];
};

/* Sites stand by gpu_call_order(), then by offset. */
struct gpu_file {
	uint32_t libraries; /* enum gpu_library: which the file is, or holds */
	uint32_t count;
	struct gpu_site sites[MAX_GPU_SITES];
};

/* What a file is is told by what it defines: the driver exports cuMemAlloc_v2 and cuLaunchKernel,
 * the runtime, which may be linked into anything, defines cudaMalloc and cudaMemcpyAsync. Of
 * `libraries` only; a function's names are one site, and one that is but a jump to another of them
 * is none. -ENOENT when the file has nothing of them, -E2BIG, -ENOMEM. */
int gpu_sites_find(const struct elf *elf, uint32_t libraries, struct gpu_file *ret_file);

/* Whether bytes that a reader process answered can be a struct gpu_file of these libraries that can
 * be believed as far as a file may speak for itself. 0 or -EBADMSG. */
int gpu_sites_check(const uint8_t *bytes, size_t len, uint32_t libraries);

/* The cookie of a probe there: made of the list, and of what the check has let pass. */
union gpu_site_cookie gpu_site_cookie(const struct gpu_site *site);

/* As which of them a file may be probed that is called so; 0: only if it is found to be one in a
 * process that has a driver. */
uint32_t gpu_libraries_named(const char *path);
