/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct standing_files - the inodes whose static probes are listened to, in every process that
 * maps them now or later, and which processes those are. Their semaphores count us as a listener. A
 * file that nobody maps any more is let go: after some minutes, or as soon as another one needs its
 * place. The files of one user, whose process was first to map them, have up to half of the places,
 * and less when others have some (base/shares.h tells how). Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "base/shares.h"
#include "collect/file_opener.h"
#include "collect/file_users.h"
#include "collect/gpu_kernel.h"
#include "collect/heap_kernel.h"
#include "collect/usdt_files.h"
#include "proc/proc.h"

struct standing_file;

enum {
	/* Inodes that are listened to. A host has few: a library that samples, one for GPUs, and
	 * programs that have the probes themselves. Each has MAX_USDT_SITES of STATIC_SITES. */
	MAX_STANDING_FILES = 64,
	MAX_STANDING_FAILED = 32, /* that could not be; the oldest is forgotten */
};

/* All of it outlives them. */
struct standing_files_config {
	struct lane *lane;
	struct reader *reader; /* the lane's */
	struct procs *procs;
	struct file_opener *opener;
	const struct heap_kernel *heaps;
	const struct gpu_kernel *gpus;
	/* To a file that has these probes, on the loop thread. */
	void (*attached)(const struct usdt_file *file, void *ctx);
	void (*released)(void *ctx); /* there is a place again */
	void *ctx;
};

struct standing_files {
	struct standing_files_config config;
	struct standing_file *first; /* the newest */
	struct file_users users;
	struct shares shares;
	uint64_t slots;         /* bit n: the place n of MAX_STANDING_FILES is taken */
	uint64_t numbers;       /* given to files so far, for the reader */
	uint64_t refused;       /* times that there was no room */
	bool is_wanted;         /* somebody was refused since the last sweep */
	unsigned int told_left; /* warnings that may be logged until the next sweep */
};

void standing_files_init(struct standing_files *files, const struct standing_files_config *config);
/* Attaches to the file that the process has mapped there, unless it is already. What cannot be is
 * logged. False: there is no room yet, so ask again after released(), or the file is being opened,
 * so ask again when the opener says so. */
bool standing_files_listen(struct standing_files *files, uint32_t pid,
                           const struct proc_mapping *mapping);
/* Lets go of files that nobody maps any more; some times a minute. */
void standing_files_sweep(struct standing_files *files);
/* Once the lane is idle. */
void standing_files_release(struct standing_files *files);
