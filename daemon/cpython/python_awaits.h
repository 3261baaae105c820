/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_awaits - follows a coroutine to what it awaits, and that to what it awaits in turn:
 * the frames of a task, which are on no stack while it waits. Each has its frame in itself. A frame
 * that is suspended in an await has what it awaits on top of its stack. Private to cpython/.
 */
#pragma once

#include "cpython/python_objects.h"
#include "runtimes/tasks.h"

struct python_awaits {
	struct python_objects *objects;
	/* Types that were met, by address. */
	struct {
		uint64_t address;
		uint32_t kind;
	} types[16];
	uint32_t type_count;
};

/* Sets the frames of a task, and its state but for TASK_WAITS. No frame: `coroutine` is none, or
 * has ended. 0 or -ENOMEM. */
int python_awaits_read(struct python_awaits *awaits, uint64_t coroutine,
                       struct runtime_tasks *tasks, struct runtime_task *task);
/* Whether the object's type has this name. */
bool python_awaits_is_named(struct python_awaits *awaits, uint64_t object, const char *name);
