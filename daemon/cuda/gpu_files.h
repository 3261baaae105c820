/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_files - the inodes whose functions are probed, each once, in every process that maps
 * them now or later. Also the processes that map them, so that a file that no process maps any more
 * is detached. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "cuda/sites.h"
#include "kernel/gpu_kernel.h"
#include "probes/file_opener.h"
#include "proc/proc.h"
#include "reader/reader.h"

struct gpu_files;

enum {
	MAX_GPU_FILES = 64,  /* probed or being tried; shared among users */
	MAX_GPU_FAILED = 32, /* could not be probed; the oldest is forgotten */
};

/* Everything here outlives struct gpu_files. */
struct gpu_files_config {
	struct lane *lane;
	struct reader *reader; /* the lane's */
	struct procs *procs;
	struct file_opener *opener;
	const struct gpu_kernel *kernel;
	/* Called after a file was attached or detached, or could not be attached. */
	void (*changed)(void *ctx);
	void *ctx;
};

/* The state of the files of a library. */
struct gpu_files_status {
	size_t attached, sites;
	int err; /* of the last file that could not be attached; 0: none; -EPERM: as below */
	const char *path; /* of that file; valid until the file is removed */
	/* How often a file was not probed because its user is not trusted (base/accounts.h). */
	uint64_t untrusted;
};

struct gpu_files *gpu_files_new(const struct gpu_files_config *config);
void gpu_files_free(struct gpu_files *files); /* once the lane is idle; takes NULL */

/* The process has a file mapped there that may be one of these libraries. The file is read and
 * probed, unless it is probed already. A file that cannot be probed is logged. False: there is no
 * room, so call again after changed(), or the file is being opened, so call again when the opener
 * says so. The mapping has an object. */
bool gpu_files_use(struct gpu_files *files, uint32_t pid, const struct proc_mapping *mapping,
                   uint32_t libraries);
/* Detaches the files that no process maps any more, but those that are installed: these would be
 * attached again. Returns whether any files are left. */
bool gpu_files_sweep(struct gpu_files *files);
/* The state of those files that are one of the libraries. */
void gpu_files_status(const struct gpu_files *files, uint32_t libraries,
                      struct gpu_files_status *ret_status);
