/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Up to 3.13, asyncio.tasks keeps a set of weak references to all tasks, and from 3.12 on a set of
 * those that were started eagerly. A task has what it waits for: a future, another task, or what
 * gather() has made of several.
 */
#include "cpython/python_names.h"
#include "cpython/python_tasks_private.h"

enum {
	VERSION_3_12 = 0x030c,
	/* PySetObject, PyWeakReference, PyListObject. */
	SET_MASK = 32,
	SET_TABLE = 40,
	WEAK_OBJECT = 16,
	LIST_SIZE = 16,
	LIST_ITEMS = 24,
	SET_BLOCK = 64, /* entries that are read at a time */
	LIST_BLOCK = 64,
	MAX_SET_SIZE = 1 << 16,
};

void task_walk_each(struct task_walk *walk, uint64_t set, task_walk_fn *fn, const void *ctx)
{
	uint64_t table = python_objects_pointer(walk->objects, set + SET_TABLE), mask;
	struct {
		uint64_t key, hash;
	} entries[SET_BLOCK];

	if (!python_objects_bytes(walk->objects, set + SET_MASK, &mask, sizeof(mask)) || !table)
		return;
	if (mask >= MAX_SET_SIZE) {
		walk->tasks->is_incomplete = true;
		mask = MAX_SET_SIZE - 1;
	}
	for (uint64_t first = 0; first <= mask && !walk->err; first += SET_BLOCK) {
		uint64_t count = mask + 1 - first < SET_BLOCK ? mask + 1 - first : SET_BLOCK;

		if (!python_objects_bytes(walk->objects, table + first * sizeof(*entries), entries,
		                          count * sizeof(*entries)))
			return;
		/* A removed entry has the hash -1. */
		for (uint64_t i = 0; i < count && !walk->err; i++)
			if (entries[i].key && entries[i].hash != UINT64_MAX)
				fn(walk, entries[i].key, ctx);
	}
}

static void add_of_set(struct task_walk *walk, uint64_t task, const void *unused)
{
	(void)unused;
	task_walk_add(walk, task);
}

static void add_of_weak_set(struct task_walk *walk, uint64_t reference, const void *unused)
{
	uint64_t task = python_objects_pointer(walk->objects, reference + WEAK_OBJECT);

	(void)unused;
	if (task)
		task_walk_add(walk, task);
}

void task_walk_add_kept(struct task_walk *walk, uint64_t interpreter)
{
	struct python_objects *objects = walk->objects;
	bool has_eager = objects->process->version >= VERSION_3_12;
	const char *name = has_eager ? "_scheduled_tasks" : "_all_tasks";
	uint64_t modules = python_objects_pointer(
		objects, interpreter + objects->process->interpreter_modules);
	uint64_t module = modules ? python_objects_find(objects, modules, "asyncio.tasks") : 0;
	uint64_t weak = module ? python_objects_variable(objects, module, name) : 0, set;

	set = weak ? python_objects_attribute(objects, weak, "data") : 0;
	if (set)
		task_walk_each(walk, set, add_of_weak_set, NULL);
	if (!module || !has_eager)
		return;
	set = python_objects_variable(objects, module, "_eager_tasks");
	if (set)
		task_walk_each(walk, set, add_of_set, NULL);
}

static void add_await(struct task_walk *walk, struct runtime_task *task, uint64_t of)
{
	const struct found_task *found = task_walk_find(walk, of);

	if (found)
		task_walk_add_await(walk, task, found);
}

/* What asyncio.gather() has put together. */
static void add_gathered(struct task_walk *walk, struct runtime_task *task, uint64_t waiter)
{
	struct python_objects *objects = walk->objects;
	uint64_t list, items, size;

	if (!python_awaits_is_named(&walk->awaits, waiter, "_GatheringFuture"))
		return;
	list = python_objects_attribute(objects, waiter, "_children");
	items = list ? python_objects_pointer(objects, list + LIST_ITEMS) : 0;
	if (!items || !python_objects_bytes(objects, list + LIST_SIZE, &size, sizeof(size)))
		return;
	if (size > RUNTIME_TASKS)
		size = RUNTIME_TASKS;
	for (uint64_t first = 0; first < size; first += LIST_BLOCK) {
		uint64_t count = size - first < LIST_BLOCK ? size - first : LIST_BLOCK;
		uint64_t children[LIST_BLOCK];

		if (!python_objects_bytes(objects, items + first * sizeof(*children), children,
		                          count * sizeof(*children)))
			return;
		for (uint64_t i = 0; i < count; i++)
			add_await(walk, task, children[i]);
	}
}

void task_walk_add_waiters(struct task_walk *walk)
{
	struct found_task *found, *next;

	HASH_ITER (hh, walk->found, found, next) {
		struct runtime_task *task = &walk->tasks->at[found->index];

		if (task->state != TASK_WAITS)
			continue;
		add_await(walk, task, found->waiter);
		if (!task->await_count)
			add_gathered(walk, task, found->waiter);
	}
}
