/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct probed - one inode that is probed, waits to be probed, or could not be: attaching and
 * detaching it on the lane, in fair order. Private to cuda/gpu_files.h, of whose two .c files
 * this is one. Loop thread only, except for the lane's members.
 */
#pragma once

#include "cuda/gpu_files.h"
#include "cuda/gpu_turns.h"
#include "kernel/uprobes.h"
#include "probes/file_inode.h"
#include "probes/file_users.h"

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
	uint32_t owner;     /* the user whose process was the first to map it */
	uint32_t libraries; /* which libraries it may be */

	/* The lane owns these until its job is done. */
	struct gpu_file found;
	struct uprobes links;
	int err;
};

struct gpu_files {
	struct gpu_files_config config;
	struct probed *first;
	struct probed *asked; /* the file being attached; NULL: none */
	struct gpu_turns turns;
	struct file_users users;
	/* Takes the place of a probed file for processes that map a file that must not be probed
	 * for them, so that it is not opened anew at every change of the process. */
	struct file_used untrusted;
	char *untrusted_path; /* of the last such file; NULL: none */
	uint32_t untrusted_libraries;
	uint64_t untrusted_count;
	uint64_t numbers;  /* the last number given to a file, for the reader */
	uint64_t swept_ns; /* the time of the last sweep for want of room */
	unsigned int told;
};

void gpu_probed_free(struct probed *file);
/* Takes the file off the list, removes its users, and frees it. Not while the lane has it. */
void gpu_probed_remove(struct probed *file);
/* The file is attached when its turn comes; then the changed() of struct gpu_files_config is
 * called. */
void gpu_probed_start(struct probed *file);
/* Detaches an attached file; it is then removed, or attached again if a process maps it. */
void gpu_probed_let_go(struct probed *file);
bool gpu_files_may_tell(struct gpu_files *files); /* whether one more warning may be logged */
