/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the functions of cuda/calls.h are in a file, and where a probe in each is cheap. A reader
 * process reads the file, so the structures here are also the form of its answer. Pure.
 */
#pragma once

#include "base/cleanup.h"
#include "cuda/calls.h"
#include "elf/elf.h"

#include <stddef.h>

enum {
	MAX_GPU_SITES = 512, /* of a file; a driver with all calls and their variants has 200 */
	MAX_GPU_PUSHED = 128,
};

struct gpu_site {
	uint64_t offset; /* offset in the file of the instruction that is probed */
	uint8_t call;    /* as for gpu_call_name() */
	uint8_t pushed;  /* as in the cookie */
	uint8_t emulated;
	uint8_t unused[5];
};

/* Sites are sorted by gpu_call_order(), then by offset. */
struct gpu_file {
	uint32_t libraries; /* set of enum gpu_library: which libraries the file is, or contains */
	uint32_t count;
	struct gpu_site sites[MAX_GPU_SITES];
};

/* A file is identified by what it defines: the driver exports cuMemAlloc_v2 and cuLaunchKernel; the
 * runtime, which may be linked into any file, defines cudaMalloc and cudaMemcpyAsync. Only
 * `libraries` are looked for. A function with several names is one site, and a function that is
 * only a jump to another one of the list is no site. -ENOENT when the file has none of these
 * functions, -E2BIG, -ENOMEM. */
int gpu_sites_find(const struct elf *elf, uint32_t libraries, struct gpu_file *ret_file);

/* Whether the bytes of a reader process's answer can be a struct gpu_file of these libraries, as
 * far as a file may be trusted about itself. 0 or -EBADMSG. */
int gpu_sites_check(const uint8_t *bytes, size_t len, uint32_t libraries);

/* The cookie of a probe at the site: made from the list, and from what the check has accepted. */
union gpu_site_cookie gpu_site_cookie(const struct gpu_site *site);

/* The libraries as which a file with this name may be probed; 0: only if it is found to be one of
 * them in a process that has a driver. */
uint32_t gpu_libraries_named(const char *path);
