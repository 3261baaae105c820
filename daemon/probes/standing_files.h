/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct standing_files - the files whose static probes are listened to, for as long as processes
 * map them (probes/probed_files.h). profd counts as a listener in the probes' semaphores. Loop
 * thread only.
 */
#pragma once

#include "kernel/gpu_kernel.h"
#include "kernel/heap_kernel.h"
#include "probes/probed_files.h"
#include "probes/usdt_files.h"
#include "reader/reader.h"

/* Everything here outlives struct standing_files. */
struct standing_files_config {
	struct lane *lane;
	struct reader *reader; /* the lane's */
	struct procs *procs;
	struct file_opener *opener;
	const struct heap_kernel *heaps;
	const struct gpu_kernel *gpus;
	/* Called after a file with these probes was attached, on the loop thread. */
	void (*attached)(const struct usdt_file *file, void *ctx);
	void (*changed)(void *ctx); /* as that of struct probed_kind */
	void *ctx;
};

struct standing_files {
	struct probed_files probed; /* first */
	struct standing_files_config config;
};

void standing_files_init(struct standing_files *files, const struct standing_files_config *config);
