/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads asyncio's tasks from the memory of a process: the sets that asyncio.tasks keeps of them
 * (3.14: the lists of threads), then of each task its name, the coroutines that it has called, one
 * in another, and what it waits for. CPython 3.11 to 3.14, tasks of the module _asyncio, which
 * uvloop uses as well. The work is bounded, whatever the memory holds; any thread. Structures:
 * Modules/_asynciomodule.c, Include/cpython/genobject.h, Include/internal/pycore_frame.h.
 */
#pragma once

#include "cpython/python_objects.h"
#include "runtimes/tasks.h"

enum {
	/* Reads in one walk: some 150 for each of 1,000 tasks with five frames, and the search for
	 * the module. */
	MAX_PYTHON_TASK_READS = 1 << 18,
	PYTHON_DESCRIBES_TASKS = 0x030e, /* from this version on */
};

/* Where 3.14 and later have tasks, as offsets in bytes; see python/python_asyncio.h. */
struct python_asyncio {
	uint16_t task_name, task_coroutine; /* struct TaskObj */
	uint16_t task_awaited_by, task_awaited_by_set;
	uint16_t task_node;         /* 0: nothing is known of asyncio */
	uint16_t thread_tasks;      /* _PyThreadStateImpl.asyncio_tasks_head */
	uint32_t interpreter_tasks; /* PyInterpreterState.asyncio_tasks_head */
};

/* Whether tasks of that build can be read. */
bool python_tasks_known(const struct python_process *process);
/* `asyncio`: all zero before 3.14, or if the program does not use it. 0 or -ENOMEM. The result must
 * be released in any case. A program without asyncio has none. */
int python_tasks_read(struct python_objects *objects, const struct python_asyncio *asyncio,
                      struct runtime_tasks *ret_tasks);
