/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct probed - one inode that is probed, or waits for it, or could not be: attaching to it and
 * letting it go, on the lane, in fair order. The inside of collect/gpu_files.h, of whose two files
 * this is. Loop thread only, but for what is the lane's.
 */
#pragma once

#include "collect/gpu_files.h"
#include "collect/file_inode.h"
#include "collect/gpu_turns.h"
#include "collect/file_users.h"
#include "collect/uprobes.h"

enum state { WAITING, ATTACHING, ATTACHED, FAILED, DETACHING };

struct probed {
	struct job job;
	struct file_used used;
	struct probed *next;
	struct gpu_files *files;
	enum state state;
	int fd;
	struct file_inode inode;
	char *path; /* as the process sees it */
	uint64_t number;
	uint32_t owner;     /* the user whose process was first to map it */
	uint32_t libraries; /* that it may be */

	/* The lane's until it is done. */
	struct gpu_file found;
	struct uprobes links;
	int err;
};

struct gpu_files {
	struct gpu_files_config config;
	struct probed *first;
	struct probed *asked; /* that is being attached; NULL: none */
	struct gpu_turns turns;
	struct file_users users;
	uint64_t numbers;  /* that were given to files, for the reader */
	uint64_t swept_ns; /* when, for want of room */
	unsigned int told;
};

void gpu_probed_free(struct probed *file);
/* The same, out of the list, with its users. Not while it is the lane's. */
void gpu_probed_remove(struct probed *file);
/* It is attached when its turn has come; then the files' changed() is called. */
void gpu_probed_start(struct probed *file);
void gpu_probed_let_go(struct probed *file);      /* it was attached, and goes, or comes back */
bool gpu_files_may_tell(struct gpu_files *files); /* one more warning may be logged */
