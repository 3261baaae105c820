/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct task_groups - the tasks of a reading, those together that are at the same place in the
 * same functions. Pure.
 */
#pragma once

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtimes/tasks.h"

#include <jansson.h>

enum {
	TASK_GROUP_NAMES =
		10, /* of its tasks, and of those that they wait for; others are left out */
};

struct task_group {
	uint32_t first, count; /* in `order` */
};

struct task_groups {
	const struct runtime_tasks *tasks;
	uint32_t *order;       /* tasks, by group */
	struct task_group *at; /* those with the most tasks first */
	uint32_t count;
};

/* 0 or -ENOMEM. The tasks must live as long as the groups. */
int task_groups_make(const struct runtime_tasks *tasks, struct task_groups *ret_groups);
void task_groups_release(struct task_groups *groups);

/* Of the JSON, roughly: it is made as a whole. */
size_t task_groups_bytes(const struct task_groups *groups);
/* NULL when out of memory. */
json_t *task_groups_json(const struct task_groups *groups);
void task_groups_text(const struct task_groups *groups, struct buf *out);
