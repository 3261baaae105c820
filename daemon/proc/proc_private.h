/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of struct procs share.
 */
#pragma once

#include "proc/pid_set.h"
#include "proc/kin.h"
#include "proc/proc.h"
#include "proc/scan.h"

/* Without memory for a table a process is not followed, and counted as dropped. */
#define HASH_NONFATAL_OOM 1
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
	/* Those that wait for files to be opened. */
	struct program *prev_waiting, *next_waiting;
	bool waits, opened; /* is in that list; one of its files has just been opened */
	uint32_t pid;
};

struct process {
	uint32_t pid;
	bool alone;  /* has had one thread only, so that its exit is the process's */
	bool exited; /* its main thread has */
	bool forked; /* it started others, or may have before it was known */
	uint64_t exit_mono_ns;
	uint32_t parent;        /* pid of the process that started it; 0: not known */
	uint64_t rest_until_ns; /* its file of mappings is long: it is not read again before */
	struct program *newest; /* never NULL */
	UT_hash_handle hh;
};

/* Reading /proc again, in pieces. */
struct rescan {
	bool wanted;
	uint32_t *pids; /* of the round under way; NULL: there is none */
	size_t count, next;
	uint64_t began_ns, rounds, rested;
};

struct procs {
	struct finder finder;
	struct mapping_room room; /* of all mappings */
	struct program *waiting;
	struct pid_set large; /* with many mappings, which have changed and were not told of */
	struct rescan rescan;
	struct process *by_pid;
	struct kin kin; /* who is no longer in it */
	uint64_t dropped;
	struct watcher {
		procs_changed_fn *fn; /* NULL: none */
		void *ctx;
	} watchers[MAX_PROCS_WATCHERS];
};

/* Reads /proc about a process, known or not. -ENOMEM. */
int procs_scan_pid(struct procs *procs, uint32_t pid);
/* Those whose exit was never told. */
void procs_find_ended(struct procs *procs);
/* It has started another, or may have. */
void procs_note_fork(struct procs *procs, uint32_t pid);
/* Before a process that has ended is freed. */
void process_remember(struct procs *procs, const struct process *process);
/* Now and then. */
void procs_settle_kin(struct procs *procs, uint64_t mono_ns);
struct process *procs_find(const struct procs *procs, uint32_t pid); /* NULL when not known */
/* What it ran at a time. */
struct program *process_program(const struct process *process, uint64_t mono_ns);
/* What it takes over, in whose it is, from the process that forked it, or from what it ran before.
 */
void program_forked(const struct procs *procs, struct program *program, uint32_t parent_pid);
void program_execed(struct program *program);
