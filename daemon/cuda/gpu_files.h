/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_files - the files whose functions of CUDA, PyTorch or XLA are probed, for as long as
 * processes map them (probes/probed_files.h). Loop thread only.
 */
#pragma once

#include "cuda/sites.h"
#include "kernel/gpu_kernel.h"
#include "probes/probed_files.h"
#include "reader/reader.h"

struct gpu_files;

/* Everything here outlives struct gpu_files. */
struct gpu_files_config {
	struct lane *lane;     /* its other jobs are for no user, and go first */
	struct reader *reader; /* the lane's */
	struct procs *procs;
	struct file_opener *opener;
	const struct gpu_kernel *kernel;
	/* Called after a file was attached or removed, could not be attached, or was left alone
	 * because its user is not trusted, and when a process that had to wait may find room. */
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

/* As probed_files_use(), for a file that may be one of these libraries. */
bool gpu_files_use(struct gpu_files *files, uint32_t pid, const struct proc_mapping *mapping,
                   uint32_t libraries);
/* Detaches the files that no process maps any more, but those that are installed: these would be
 * attached again. Returns whether any files are left. */
bool gpu_files_sweep(struct gpu_files *files);
/* The state of those files that are one of the libraries. */
void gpu_files_status(const struct gpu_files *files, uint32_t libraries,
                      struct gpu_files_status *ret_status);
