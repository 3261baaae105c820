/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is known of a process beside its stacks, as labels of samples. Loop thread only: it may look
 * into /proc.
 */
#pragma once

#include "collect/drain.h"
#include "profile/builder.h"

/* Gives a task of which only `pid` is set its process's name, whose it is, and its Python: the
 * version that its stack says, or 0. `image` is what it ran at that time; NULL: not known. */
void task_identify(struct task *task, struct builder *builder, const struct drain_tables *tables,
                   const struct image *image, uint32_t python_version, uint64_t mono_ns);
/* A thread as a sample met it. */
struct seen_task {
	uint32_t image;     /* as of tally_key */
	uint64_t mono_ns;   /* at that time, or another thread of it */
	const char *thread; /* TASK_COMM_BYTES: its name, as the kernel has it */
};

/* Gives a task whose `pid` and `tid` are set the thread's name: what Python calls it, else what the
 * kernel does. */
void task_name_thread(struct task *task, struct builder *builder, const struct drain_tables *tables,
                      const struct seen_task *seen);
