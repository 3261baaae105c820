/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct standing_files - the inodes whose probes are listened to, in every process that maps them
 * now or later. Their semaphores count us as a listener. Attached until the end. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "collect/gpu_kernel.h"
#include "collect/heap_kernel.h"
#include "collect/usdt_files.h"
#include "proc/mapping_set.h"

struct standing_file;

struct standing_files {
	struct lane *lane;
	struct reader *reader; /* the lane's */
	const struct heap_kernel *heaps;
	const struct gpu_kernel *gpus;
	/* To a file that has these probes, on the loop thread. */
	void (*attached)(const struct usdt_file *file, void *ctx);
	void *ctx;
	struct standing_file *first;
	size_t count;
	uint32_t sites; /* of STATIC_SITES, that are taken */
	bool told_full;
};

/* Attaches to the file that the process has mapped there, unless it is already. What cannot be is
 * logged once. */
void standing_files_listen(struct standing_files *files, uint32_t pid,
                           const struct proc_mapping *mapping, const struct usdt_file *file);
/* Once the lane is idle. */
void standing_files_release(struct standing_files *files);
