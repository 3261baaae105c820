/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_files - the inodes whose functions are probed, each once, in every process that maps
 * them now or later; and which processes those are, so that what nobody maps any more is let go.
 * Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "collect/file_opener.h"
#include "collect/gpu_kernel.h"
#include "gpu/sites.h"
#include "proc/proc.h"
#include "reader/reader.h"

struct gpu_files;

enum {
	MAX_GPU_FILES = 64,  /* that are probed, or being tried; shared among users */
	MAX_GPU_FAILED = 32, /* that could not be; the oldest is forgotten */
};

/* All of it outlives them. */
struct gpu_files_config {
	struct lane *lane;
	struct reader *reader; /* the lane's */
	struct procs *procs;
	struct file_opener *opener;
	const struct gpu_kernel *kernel;
	/* After a file was attached or let go, or could not be. */
	void (*changed)(void *ctx);
	void *ctx;
};

/* What came of the files of a library. */
struct gpu_files_status {
	size_t attached, sites;
	int err;          /* of the last one that could not be; 0: none */
	const char *path; /* of that; until it is let go */
};

struct gpu_files *gpu_files_new(const struct gpu_files_config *config);
void gpu_files_free(struct gpu_files *files); /* once the lane is idle; takes NULL */

/* The process has a file mapped there that may be one of these libraries: it is looked into and
 * probed, unless it is already. What cannot be is logged. False: there is no room, so ask again
 * after changed(), or the file is being opened, so ask again when the opener says so. The mapping
 * has an object. */
bool gpu_files_use(struct gpu_files *files, uint32_t pid, const struct proc_mapping *mapping,
                   uint32_t libraries);
/* Lets go what nobody maps any more. Files are left? */
bool gpu_files_sweep(struct gpu_files *files);
/* Of those files that are one of the libraries. */
void gpu_files_status(const struct gpu_files *files, uint32_t libraries,
                      struct gpu_files_status *ret_status);
