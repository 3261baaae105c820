/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes labels from the process table and from what is known about interpreters.
 */
#include "ingest/tasks.h"

#include <stdio.h>
#include <string.h>

/* The version in the frames is that of the program that was sampled. The table may have the version
 * of the next program already, but has one for threads without Python frames too. */
static uint32_t version_text(struct builder *builder, const struct pythons *pythons, uint32_t pid,
                             uint32_t version)
{
	char text[32];

	if (!version && pythons)
		version = pythons_version(pythons, pid);
	if (!version)
		return 0;
	snprintf(text, sizeof(text), "%u.%u", version >> 8, version & 0xff);
	return builder_text(builder, text);
}

void task_identify(struct task *task, struct builder *builder, const struct drain_tables *tables,
                   const struct image *image, uint32_t python_version, uint64_t mono_ns)
{
	const struct identity *identity = procs_identity(tables->procs, task->pid, mono_ns);

	task->comm = builder_text(builder, image ? image->comm : "");
	task->python_version = version_text(builder, tables->pythons, task->pid, python_version);
	if (image && tables->pythons)
		task->began_boot_ns =
			pythons_began(tables->pythons, task->pid, image->start_mono_ns);
	task->parent = procs_parent(tables->procs, task->pid);
	if (!identity)
		return;
	task->unit = builder_text(builder, identity->unit);
	task->container = builder_text(builder, identity->container);
	task->pod = builder_text(builder, identity->pod);
}

void task_name_thread(struct task *task, struct builder *builder, const struct drain_tables *tables,
                      const struct seen_task *seen)
{
	const char *given = NULL;

	if (tables->threads)
		given = python_threads_name(tables->threads, task->pid, seen->image, task->tid,
		                            seen->mono_ns);
	task->thread = given ? builder_text(builder, given)
	                     : builder_string(builder, seen->thread,
	                                      strnlen(seen->thread, TASK_COMM_BYTES));
}
