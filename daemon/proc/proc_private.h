/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of struct procs share.
 */
#pragma once

#include "proc/proc.h"

#include <uthash.h>

struct program {
	struct image image;
	struct program *older;
	/* Who forked the process, and when; 0: not told. */
	uint32_t parent_pid;
	uint64_t forked_mono_ns;
	struct identity *identity; /* as far as known */
	uint64_t identity_ns;      /* when it was read, or tried to be; 0: not yet */
	bool own;                  /* it was read, and not taken over */
	bool settled;              /* since that time ancestors were asked */
};

struct process {
	uint32_t pid;
	bool alone;  /* has had one thread only, so that its exit is the process's */
	bool exited; /* its main thread has */
	uint64_t exit_mono_ns;
	uint32_t parent;        /* pid of the process that started it; 0: not known */
	struct program *newest; /* never NULL */
	UT_hash_handle hh;
};

struct procs {
	struct store *store;
	struct process *by_pid;
	uint64_t dropped;
	struct watcher {
		procs_changed_fn *fn; /* NULL: none */
		void *ctx;
	} watchers[MAX_PROCS_WATCHERS];
};

struct process *procs_find(const struct procs *procs, uint32_t pid); /* NULL when not known */
/* What it ran at a time. */
struct program *process_program(const struct process *process, uint64_t mono_ns);
/* What it takes over, in whose it is, from the process that forked it, or from what it ran before.
 */
void program_forked(const struct procs *procs, struct program *program, uint32_t parent_pid);
void program_execed(struct program *program);
