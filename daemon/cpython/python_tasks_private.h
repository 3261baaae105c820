/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement python_tasks_read().
 */
#pragma once

#include "base/table.h"
#include "cpython/python_awaits.h"
#include "cpython/python_tasks.h"

struct task_layout {
	uint32_t version;
	uint16_t waiter, coroutine, name; /* of struct TaskObj */
	uint16_t state;                   /* of struct FutureObj, and of TaskObj */
};

/* A task that was found, by its address. */
struct found_task {
	uint64_t address, waiter;
	uint32_t index;
	UT_hash_handle hh;
};

struct task_walk {
	struct python_objects *objects;
	struct task_layout layout;
	struct python_awaits awaits;
	struct runtime_tasks *tasks;
	struct found_task *found;
	int err;
};

/* Adds a task, unless it has ended. */
void task_walk_add(struct task_walk *walk, uint64_t address);
struct found_task *task_walk_find(struct task_walk *walk, uint64_t address);
/* A task waits for another. */
void task_walk_add_await(struct task_walk *walk, struct runtime_task *task,
                         const struct found_task *other);
/* python_task_sets.c. Calls fn for each object of a set. */
typedef void task_walk_fn(struct task_walk *walk, uint64_t object, const void *ctx);
void task_walk_each(struct task_walk *walk, uint64_t set, task_walk_fn *fn, const void *ctx);

/* Up to 3.13. Adds the tasks of an interpreter. */
void task_walk_add_kept(struct task_walk *walk, uint64_t interpreter);
/* Adds which tasks wait for which, once all are found and their states are known. */
void task_walk_add_waiters(struct task_walk *walk);

/* python_task_lists.c: the same, 3.14 and later. */
void task_walk_add_listed(struct task_walk *walk, const struct python_asyncio *asyncio,
                          uint64_t interpreter);
void task_walk_add_awaited(struct task_walk *walk, const struct python_asyncio *asyncio);
