/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cpython/python_tasks_private.h"

#include "cpython/python_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* PyLongObject, 3.12 and later. */
	LONG_TAG = 16,
	LONG_DIGITS_SHIFT = 3,
	OBJECT_TYPE = 8, /* PyObject.ob_type */
};

static const struct task_layout layouts[] = {
	{0x030b, 128, 136, 144, 88},
	{0x030c, 128, 136, 144, 88},
	{0x030d, 112, 120, 128, 96},
};

static struct task_layout layout_of(uint32_t version, const struct python_asyncio *asyncio)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == version)
			return layouts[i];
	/* What the description leaves out is in front of what it has, and behind it. */
	return (struct task_layout){
		.version = version,
		.waiter = asyncio->task_coroutine - 8,
		.coroutine = asyncio->task_coroutine,
		.name = asyncio->task_name,
		.state = asyncio->task_awaited_by + 8,
	};
}

bool python_tasks_known(const struct python_process *process)
{
	bool is_in_table = false;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		is_in_table |= layouts[i].version == process->version;
	/* Without a GIL objects have another head. */
	return (is_in_table || process->version == PYTHON_DESCRIBES_TASKS) &&
	       !process->free_threaded;
}

static const char *name_of(struct task_walk *walk, uint64_t task)
{
	uint64_t name = python_objects_pointer(walk->objects, task + walk->layout.name);
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	struct {
		uint64_t tag;
		uint32_t digit;
	} number;

	if (name && python_awaits_is_named(&walk->awaits, name, "int") &&
	    python_objects_bytes(walk->objects, name + LONG_TAG, &number, sizeof(number)) &&
	    number.tag >> LONG_DIGITS_SHIFT == 1)
		/* 3.13 makes up the name when it is asked for. */
		buf_printf(&text, "Task-%" PRIu32, number.digit);
	else if (!name || !python_objects_text(walk->objects, name, MAX_PYTHON_THREAD_NAME, &text))
		buf_add_text(&text, "[no name]");
	return runtime_tasks_text(walk->tasks, buf_text(&text));
}

struct found_task *task_walk_find(struct task_walk *walk, uint64_t address)
{
	struct found_task *found;

	HASH_FIND(hh, walk->found, &address, sizeof(address), found);
	return found;
}

static int remember(struct task_walk *walk, uint64_t address)
{
	struct found_task *found = calloc(1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	found->address = address;
	found->waiter = python_objects_pointer(walk->objects, address + walk->layout.waiter);
	found->index = walk->tasks->count;
	HASH_ADD(hh, walk->found, address, sizeof(address), found);
	if (found->hh.tbl)
		return 0;
	free(found);
	return -ENOMEM;
}

void task_walk_add(struct task_walk *walk, uint64_t address)
{
	struct runtime_task *task;
	uint64_t coroutine =
		python_objects_pointer(walk->objects, address + walk->layout.coroutine);

	if (!coroutine || task_walk_find(walk, address))
		return;
	if (walk->tasks->count == RUNTIME_TASKS) {
		walk->tasks->left_out++;
		return;
	}
	task = &walk->tasks->at[walk->tasks->count];
	*task = (struct runtime_task){0};
	walk->err = python_awaits_read(&walk->awaits, coroutine, walk->tasks, task);
	if (walk->err || !task->frame_count)
		return;
	task->name = name_of(walk, address);
	walk->err = task->name ? remember(walk, address) : -ENOMEM;
	walk->tasks->count += !walk->err;
}

void task_walk_add_await(struct task_walk *walk, struct runtime_task *task,
                         const struct found_task *other)
{
	walk->tasks->at[other->index].awaited_by = (uint32_t)(task - walk->tasks->at) + 1;
	if (task->await_count < RUNTIME_TASK_AWAITS)
		task->awaits[task->await_count++] = other->index;
}

/* Whether a future is done, so that who waits for it will be called. */
static bool is_done(struct task_walk *walk, uint64_t future)
{
	static const char *const names[] = {"_asyncio.Future", "_asyncio.Task", "_GatheringFuture"};
	bool is_future = task_walk_find(walk, future) != NULL;
	int32_t state;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !is_future; i++)
		is_future = python_awaits_is_named(&walk->awaits, future, names[i]);
	return is_future &&
	       python_objects_bytes(walk->objects, future + walk->layout.state, &state,
	                            sizeof(state)) &&
	       state != 0;
}

static void find_states(struct task_walk *walk)
{
	struct found_task *found, *next;

	HASH_ITER (hh, walk->found, found, next) {
		struct runtime_task *task = &walk->tasks->at[found->index];

		if (task->state == TASK_READY && found->waiter && !is_done(walk, found->waiter))
			task->state = TASK_WAITS;
	}
}

static void forget_found(struct task_walk *walk)
{
	struct found_task *found, *next;

	HASH_ITER (hh, walk->found, found, next) {
		HASH_DEL(walk->found, found);
		free(found);
	}
}

static void add_all(struct task_walk *walk, const struct python_asyncio *asyncio)
{
	struct python_objects *objects = walk->objects;
	uint64_t interpreter = python_objects_pointer(objects, objects->process->interpreters);
	bool has_lists = objects->process->version >= PYTHON_DESCRIBES_TASKS;

	for (int i = 0; i < MAX_PYTHON_SUBS && interpreter && !walk->err; i++) {
		if (has_lists)
			task_walk_add_listed(walk, asyncio, interpreter);
		else
			task_walk_add_kept(walk, interpreter);
		interpreter = python_objects_pointer(
			objects, interpreter + objects->process->interpreter_next);
	}
	find_states(walk);
	if (has_lists)
		task_walk_add_awaited(walk, asyncio);
	else
		task_walk_add_waiters(walk);
}

int python_tasks_read(struct python_objects *objects, const struct python_asyncio *asyncio,
                      struct runtime_tasks *ret_tasks)
{
	const struct python_process *given = objects->process;
	struct python_process process = *given;
	struct task_walk walk = {
		.objects = objects,
		.layout = layout_of(process.version, asyncio),
		.awaits = {.objects = objects},
		.tasks = ret_tasks,
	};

	*ret_tasks = (struct runtime_tasks){0};
	/* The program does not use asyncio. */
	if (process.version >= PYTHON_DESCRIBES_TASKS && !asyncio->task_node)
		return 0;
	ret_tasks->at = calloc(RUNTIME_TASKS, sizeof(*ret_tasks->at));
	if (!ret_tasks->at)
		return -ENOMEM;
	/* 0 from 3.14 on: PYTHON_NAME_OFFSETS. */
	process.object_type = OBJECT_TYPE;
	objects->process = &process;
	add_all(&walk, asyncio);
	objects->process = given;
	forget_found(&walk);
	ret_tasks->is_incomplete |= !objects->reads_left;
	return walk.err;
}
