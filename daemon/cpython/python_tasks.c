/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cpython/python_tasks.h"

#include "base/table.h"
#include "cpython/python_awaits.h"
#include "cpython/python_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	VERSION_3_12 = 0x030c,
	/* PySetObject, PyWeakReference, PyListObject. */
	SET_MASK = 32,
	SET_TABLE = 40,
	WEAK_OBJECT = 16,
	LIST_SIZE = 16,
	LIST_ITEMS = 24,
	/* PyLongObject, 3.12 and later. */
	LONG_TAG = 16,
	LONG_DIGITS_SHIFT = 3,
	SET_BLOCK = 64, /* entries that are read at a time */
	LIST_BLOCK = 64,
	MAX_SET_SIZE = 1 << 16,
};

struct task_layout {
	uint32_t version;
	uint16_t waiter, coroutine, name; /* of struct TaskObj */
	uint16_t state;                   /* of struct FutureObj, and of TaskObj */
};

static const struct task_layout layouts[] = {
	{0x030b, 128, 136, 144, 88},
	{0x030c, 128, 136, 144, 88},
	{0x030d, 112, 120, 128, 96},
};

/* A task that was found, by its address. */
struct found {
	uint64_t address, waiter;
	uint32_t index;
	UT_hash_handle hh;
};

struct walk {
	struct python_objects *objects;
	const struct task_layout *layout;
	struct python_awaits awaits;
	struct runtime_tasks *tasks;
	struct found *found;
	int err;
};

static const struct task_layout *layout_of(uint32_t version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == version)
			return &layouts[i];
	return NULL;
}

bool python_tasks_known(const struct python_process *process)
{
	/* Without a GIL objects have another head. */
	return layout_of(process->version) && !process->free_threaded;
}

static const char *name_of(struct walk *walk, uint64_t task)
{
	uint64_t name = python_objects_pointer(walk->objects, task + walk->layout->name);
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

static struct found *find(struct walk *walk, uint64_t address)
{
	struct found *found;

	HASH_FIND(hh, walk->found, &address, sizeof(address), found);
	return found;
}

static int remember(struct walk *walk, uint64_t address)
{
	struct found *found = calloc(1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	found->address = address;
	found->waiter = python_objects_pointer(walk->objects, address + walk->layout->waiter);
	found->index = walk->tasks->count;
	HASH_ADD(hh, walk->found, address, sizeof(address), found);
	if (found->hh.tbl)
		return 0;
	free(found);
	return -ENOMEM;
}

/* Adds a task, unless it has ended. */
static void add_task(struct walk *walk, uint64_t address)
{
	struct runtime_task *task;
	uint64_t coroutine =
		python_objects_pointer(walk->objects, address + walk->layout->coroutine);

	if (!coroutine || find(walk, address))
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

/* Adds the tasks of a set, or of a set of weak references. */
static void add_set(struct walk *walk, uint64_t set, bool is_weak)
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
		for (uint64_t i = 0; i < count && !walk->err; i++) {
			uint64_t task = entries[i].key;

			/* A removed entry has the hash -1. */
			if (!task || entries[i].hash == UINT64_MAX)
				continue;
			if (is_weak)
				task = python_objects_pointer(walk->objects, task + WEAK_OBJECT);
			if (task)
				add_task(walk, task);
		}
	}
}

static void add_interpreter(struct walk *walk, uint64_t interpreter)
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
		add_set(walk, set, true);
	if (!module || !has_eager)
		return;
	set = python_objects_variable(objects, module, "_eager_tasks");
	if (set)
		add_set(walk, set, false);
}

static void add_await(struct walk *walk, struct runtime_task *task, uint64_t of)
{
	const struct found *found = find(walk, of);

	if (!found)
		return;
	walk->tasks->at[found->index].awaited_by = (uint32_t)(task - walk->tasks->at) + 1;
	if (task->await_count < RUNTIME_TASK_AWAITS)
		task->awaits[task->await_count++] = found->index;
}

/* Whether a future is done, so that who waits for it will be called. */
static bool is_done(struct walk *walk, uint64_t future)
{
	static const char *const names[] = {"_asyncio.Future", "_asyncio.Task", "_GatheringFuture"};
	bool is_future = find(walk, future) != NULL;
	int32_t state;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !is_future; i++)
		is_future = python_awaits_is_named(&walk->awaits, future, names[i]);
	return is_future &&
	       python_objects_bytes(walk->objects, future + walk->layout->state, &state,
	                            sizeof(state)) &&
	       state != 0;
}

/* What asyncio.gather() has put together. */
static void add_gathered(struct walk *walk, struct runtime_task *task, uint64_t waiter)
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

static void add_waiters(struct walk *walk)
{
	struct found *found, *next;

	HASH_ITER (hh, walk->found, found, next) {
		struct runtime_task *task = &walk->tasks->at[found->index];

		if (task->state == TASK_READY && found->waiter && !is_done(walk, found->waiter)) {
			task->state = TASK_WAITS;
			add_await(walk, task, found->waiter);
			if (!task->await_count)
				add_gathered(walk, task, found->waiter);
		}
	}
}

static void forget_found(struct walk *walk)
{
	struct found *found, *next;

	HASH_ITER (hh, walk->found, found, next) {
		HASH_DEL(walk->found, found);
		free(found);
	}
}

int python_tasks_read(struct python_objects *objects, struct runtime_tasks *ret_tasks)
{
	struct walk walk = {
		.objects = objects,
		.layout = layout_of(objects->process->version),
		.awaits = {.objects = objects},
		.tasks = ret_tasks,
	};
	uint64_t interpreter = python_objects_pointer(objects, objects->process->interpreters);

	*ret_tasks = (struct runtime_tasks){0};
	ret_tasks->at = calloc(RUNTIME_TASKS, sizeof(*ret_tasks->at));
	if (!ret_tasks->at)
		return -ENOMEM;
	for (int i = 0; i < MAX_PYTHON_SUBS && interpreter && walk.layout && !walk.err; i++) {
		add_interpreter(&walk, interpreter);
		interpreter = python_objects_pointer(
			objects, interpreter + objects->process->interpreter_next);
	}
	add_waiters(&walk);
	forget_found(&walk);
	ret_tasks->is_incomplete |= !objects->reads_left;
	return walk.err;
}
