/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is known about a process besides its stacks, as labels of samples. Loop thread only: it may
 * read /proc.
 */
#pragma once

#include "ingest/drain.h"
#include "profile/builder.h"

/* Sets the labels of a task whose `pid` is set: the name of the process, its owner (unit,
 * container, pod), and its runtime, for which `ran` is what its stack says. `image` is the program
 * that the process ran at that time; NULL: not known. */
void task_identify(struct task *task, struct builder *builder, const struct drain_tables *tables,
                   const struct image *image, struct runtime_version ran, uint64_t mono_ns);
/* A thread as a sample found it. */
struct seen_task {
	uint32_t image;     /* as in struct tally_key */
	uint64_t mono_ns;   /* when; the id may belong to another thread at other times */
	const char *thread; /* TASK_COMM_BYTES: the kernel's name of it */
};

/* Sets the name of the thread in a task whose `pid` and `tid` are set: the one that its program
 * gave it, or else the kernel's. */
void task_name_thread(struct task *task, struct builder *builder, const struct drain_tables *tables,
                      const struct seen_task *seen);
