/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct standing_file - one inode of struct standing_files: attaching to its probes on the lane,
 * and taking them off. Loop thread only, but for what is the lane's.
 */
#pragma once

#include "collect/file_inode.h"
#include "collect/standing_files.h"
#include "collect/uprobes.h"

enum standing_state { STANDING_ATTACHING, STANDING_ATTACHED, STANDING_FAILED, STANDING_DETACHING };

enum { NO_SLOT = -1 };

struct standing_file {
	struct job job;
	struct file_used used;
	struct standing_file *next;
	struct standing_files *files;
	enum standing_state state;
	int slot; /* NO_SLOT once it has failed: it is known, but takes no place */
	uint32_t owner;
	struct file_inode inode;
	char *path;       /* as the process sees it */
	uint64_t idle_ns; /* since when nobody maps it; 0: somebody does */

	/* The lane's while it is attached or detached. */
	int fd;
	uint64_t number;
	struct usdt_file usdt;
	struct uprobes links;
	int err;
};

/* 0, and it is attached soon; else it is as it was. */
int standing_file_attach(struct standing_file *file);
/* It was attached, and goes; who maps it meanwhile brings it back. */
void standing_file_detach(struct standing_file *file);
/* Out of the list, with its users. Not while it is the lane's. */
void standing_file_remove(struct standing_file *file);
void standing_file_free(struct standing_file *file); /* only */
