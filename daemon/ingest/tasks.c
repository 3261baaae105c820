/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes labels from the process table and from what is known about runtimes.
 */
#include "ingest/tasks.h"

#include "jit/jit.h"
#include "proc/image.h"

#include <string.h>

/* The runtime of the frames is that of the program that was sampled. The process may run the next
 * program already, but has a runtime for threads without interpreted frames too. Without frames of
 * interpreted code it is what generates code. */
static void set_runtime(struct task *task, struct builder *builder,
                        const struct drain_tables *tables, const struct image *image,
                        struct runtime_version ran)
{
	const char *generates;
	char text[RUNTIME_VERSION_BYTES];

	if (!ran.runtime)
		ran = runtimes_of(tables->runtimes, task->pid);
	if (ran.runtime) {
		runtime_version_text(&ran, text);
		task->runtime = builder_text(builder, ran.runtime->name);
		task->runtime_version = builder_text(builder, text);
		return;
	}
	generates = image && tables->jit ? jit_runtime(tables->jit, image) : NULL;
	if (generates)
		task->runtime = builder_text(builder, generates);
}

void task_identify(struct task *task, struct builder *builder, const struct drain_tables *tables,
                   const struct image *image, struct runtime_version ran, uint64_t mono_ns)
{
	const struct identity *identity = procs_identity(tables->procs, task->pid, mono_ns);

	task->comm = builder_text(builder, image ? image->comm : "");
	set_runtime(task, builder, tables, image, ran);
	if (image)
		task->began_boot_ns =
			runtimes_began(tables->runtimes, task->pid, image->start_mono_ns);
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
	const struct runtime_thread thread = {task->pid, task->tid, seen->image, seen->mono_ns};
	const char *given = runtimes_thread_name(tables->runtimes, &thread);

	task->thread = given ? builder_text(builder, given)
	                     : builder_string(builder, seen->thread,
	                                      strnlen(seen->thread, TASK_COMM_BYTES));
}
