/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct standing_file - one inode of struct standing_files: attaching to its probes on the lane,
 * and detaching. Loop thread only, except for the lane's members.
 */
#pragma once

#include "kernel/uprobes.h"
#include "probes/file_inode.h"
#include "probes/standing_files.h"

enum standing_state { STANDING_ATTACHING, STANDING_ATTACHED, STANDING_FAILED, STANDING_DETACHING };

enum { NO_SLOT = -1 };

struct standing_file {
	struct job job;
	struct file_used used;
	struct standing_file *next;
	struct standing_files *files;
	enum standing_state state;
	int slot; /* NO_SLOT once it has failed: the file is known, but takes no place */
	uint32_t owner;
	struct file_inode inode;
	char *path;       /* as the process sees it */
	uint64_t idle_ns; /* since when no process maps it; 0: some process does */

	/* The lane owns these while it attaches or detaches the file. */
	int fd;
	uint64_t number;
	struct usdt_file usdt;
	struct uprobes links;
	int err;
};

/* 0: the file is attached soon. On failure nothing changes. */
int standing_file_attach(struct standing_file *file);
/* Detaches an attached file. If a process maps it meanwhile, it is attached again. */
void standing_file_detach(struct standing_file *file);
/* Takes the file off the list, removes its users, and frees it. Not while the lane has it. */
void standing_file_remove(struct standing_file *file);
void standing_file_free(struct standing_file *file); /* nothing but that */
