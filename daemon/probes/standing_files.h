/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct standing_files - the inodes whose static probes are listened to, in every process that
 * maps them now or later, and which processes those are. profd counts as a listener in their
 * semaphores. A file that no process maps any more is detached: after some minutes, unless it
 * is installed (probes/file_inode.h), or as soon as another file needs its place. The files of one
 * user, whose process was the first to map them, get up to half of the places, and fewer when
 * others have some (base/shares.h). Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "base/shares.h"
#include "kernel/gpu_kernel.h"
#include "kernel/heap_kernel.h"
#include "probes/file_opener.h"
#include "probes/file_users.h"
#include "probes/usdt_files.h"
#include "proc/proc.h"

struct standing_file;

enum {
	/* Inodes that are listened to. A host has few: a library that samples, one for GPUs, and
	 * programs that have the probes themselves. Each has MAX_USDT_SITES of STATIC_SITES. */
	MAX_STANDING_FILES = 64,
	MAX_STANDING_FAILED = 32, /* could not be attached; the oldest is forgotten */
};

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
	void (*released)(void *ctx); /* a place is free again */
	void *ctx;
};

struct standing_files {
	struct standing_files_config config;
	struct standing_file *first; /* the newest */
	struct file_users users;
	struct shares shares;
	uint64_t slots;   /* bit n: the place n of MAX_STANDING_FILES is taken */
	uint64_t numbers; /* numbers given to files so far, for the reader */
	uint64_t refused; /* how often there was no room */
	/* Takes the place of a file for processes that map one that must not be listened to for
	 * them, so that it is not opened anew at every change of the process. */
	struct file_used untrusted;
	uint64_t untrusted_count;
	bool is_wanted;         /* a file was refused since the last sweep */
	unsigned int told_left; /* warnings that may be logged until the next sweep */
};

void standing_files_init(struct standing_files *files, const struct standing_files_config *config);
/* Attaches to the file that the process has mapped there, unless that is done already. A file that
 * cannot be attached is logged. False: there is no room yet, so call again after released(), or the
 * file is being opened, so call again when the opener says so. */
bool standing_files_listen(struct standing_files *files, uint32_t pid,
                           const struct proc_mapping *mapping);
/* Detaches files that no process maps any more. Called some times a minute. */
void standing_files_sweep(struct standing_files *files);
/* Call once the lane is idle. */
void standing_files_release(struct standing_files *files);
