/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From 3.14 on, each thread state has a list of the tasks of its event loop, and each interpreter
 * one of those whose thread has ended. Each task has the tasks that wait for it: none, one, or a
 * set (Modules/_asynciomodule.c, Lib/asyncio/taskgroups.py).
 */
#include "cpython/python_tasks_private.h"

#include <string.h>

enum { MAX_NODES = 1 << 16, MAX_THREADS = MAX_PYTHON_THREADS };

/* The head is in what has the list, and each node in its task: struct llist_node begins with the
 * address of the next. */
static void add_list(struct task_walk *walk, const struct python_asyncio *asyncio, uint64_t head)
{
	uint64_t node = python_objects_pointer(walk->objects, head);

	for (int i = 0; i < MAX_NODES && node && node != head && !walk->err; i++) {
		task_walk_add(walk, node - asyncio->task_node);
		node = python_objects_pointer(walk->objects, node);
	}
	/* The list has changed meanwhile, or there are more. */
	walk->tasks->is_incomplete |= node != head;
}

void task_walk_add_listed(struct task_walk *walk, const struct python_asyncio *asyncio,
                          uint64_t interpreter)
{
	struct python_objects *objects = walk->objects;
	uint64_t thread = python_objects_pointer(
		objects, interpreter + objects->process->interpreter_threads);

	add_list(walk, asyncio, interpreter + asyncio->interpreter_tasks);
	for (int i = 0; i < MAX_THREADS && thread && !walk->err; i++) {
		add_list(walk, asyncio, thread + asyncio->thread_tasks);
		thread = python_objects_pointer(objects, thread + objects->process->thread_next);
	}
}

/* Whether a task waits for all that it is said to wait for. The parent of a task group is said to
 * wait for the tasks of the group from their beginning, but may still be in the group's body. */
static bool waits_for_several(struct task_walk *walk, const struct found_task *found,
                              const struct runtime_task *task)
{
	const char *innermost =
		task->frame_count ? task->frames[task->frame_count - 1].function : "";

	return !strcmp(innermost, "TaskGroup._aexit") || !strcmp(innermost, "_wait") ||
	       python_awaits_is_named(&walk->awaits, found->waiter, "_GatheringFuture");
}

static void add_awaiting(struct task_walk *walk, uint64_t address, const void *ctx)
{
	const struct found_task *awaited = ctx, *found = task_walk_find(walk, address);
	struct runtime_task *task = found ? &walk->tasks->at[found->index] : NULL;

	if (task && task->state == TASK_WAITS &&
	    (found->waiter == awaited->address || waits_for_several(walk, found, task)))
		task_walk_add_await(walk, task, awaited);
}

void task_walk_add_awaited(struct task_walk *walk, const struct python_asyncio *asyncio)
{
	struct found_task *found, *next;
	uint8_t is_set;

	HASH_ITER (hh, walk->found, found, next) {
		uint64_t by = python_objects_pointer(walk->objects,
		                                     found->address + asyncio->task_awaited_by);

		if (!by || !python_objects_bytes(walk->objects,
		                                 found->address + asyncio->task_awaited_by_set,
		                                 &is_set, sizeof(is_set)))
			continue;
		if (is_set)
			task_walk_each(walk, by, add_awaiting, found);
		else
			add_awaiting(walk, by, found);
	}
}
