/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct process_list - the answer of /processes. The loop thread collects what the daemon knows of
 * each process. A worker adds up the samples, reads from /proc what belongs to the processes
 * themselves, and writes the list. Processes control much of that text and may make /proc slow to
 * answer, so the loop thread reads none of it.
 */
#pragma once

#include "base/aside.h"
#include "base/buf.h"
#include "memory/timeline.h"
#include "proc/proc.h"
#include "profile/recorder.h"
#include "runtimes/runtimes.h"

/* Time of Python's threads with the GIL, wanting it, and without it. */
struct gil_times {
	uint64_t held_ns, wanted_ns, without_ns;
};

struct process_row {
	uint32_t pid;
	char comm[COMM_BYTES];
	struct identity *identity; /* a reference; NULL: not known yet, to be read */
	uint64_t samples, cpu_ns;
	struct gil_times runs, waits; /* of its threads */
	struct runtime_version runtime;
	bool has_tasks; /* of the runtime, that can be read; there may be none now */
	bool watched;   /* its memory is watched, and the members below are known */
	uint64_t rss_bytes, swap_bytes;
	struct growth growth;
};

struct process_list {
	struct process_row *rows; /* by ascending pid, until the list is written */
	size_t count, capacity;
	struct slices slices;   /* with the samples of CPU time */
	struct slices waits;    /* none where they are not recorded */
	struct aside *cmdlines; /* reads command lines; NULL: they are left out */
	bool text;              /* a table instead of JSON */
};

/* Loop thread. 0 or -ENOMEM. */
int process_list_collect(struct process_list *list, struct procs *procs,
                         const struct timeline *timeline);
/* Loop thread, to which identities belong. */
void process_list_release(struct process_list *list);
/* Any thread. Busiest process first. 0, -ENOMEM or the buffer's own error. */
int process_list_write(struct process_list *list, struct buf *out);

/* The number of bytes shown of each command line in a list of this many processes. */
size_t process_list_cmdline_bytes(size_t processes);
