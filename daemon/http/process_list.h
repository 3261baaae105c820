/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct process_list - what /processes answers. The loop thread collects what the daemon knows of
 * each process; a worker adds up the samples, reads from /proc what belongs to the processes
 * themselves, and writes. Much of that is anybody's choice, and a process may make /proc slow to
 * answer, so the loop thread reads none of it.
 */
#pragma once

#include "base/buf.h"
#include "memory/timeline.h"
#include "proc/proc.h"
#include "profile/recorder.h"

struct process_row {
	uint32_t pid;
	char comm[COMM_BYTES];
	struct identity *identity; /* a reference, if it is known; NULL: to be read */
	uint64_t samples, cpu_ns;
	bool watched; /* its memory is, and the rest is known */
	uint64_t rss_bytes, swap_bytes;
	struct growth growth;
};

struct process_list {
	struct process_row *rows; /* ascending pids, until it is written */
	size_t count, capacity;
	struct slices slices; /* that its samples are in */
	bool cmdlines, text;  /* adds command lines; a table instead of JSON */
};

/* Loop thread. 0 or -ENOMEM. */
int process_list_collect(struct process_list *list, struct procs *procs,
                         const struct timeline *timeline);
/* Loop thread: identities belong to it. */
void process_list_release(struct process_list *list);
/* Any thread: busiest first. 0, -ENOMEM or the buffer's own error. */
int process_list_write(struct process_list *list, struct buf *out);

/* How many bytes of each command line are shown where there are so many processes. */
size_t process_list_cmdline_bytes(size_t processes);
