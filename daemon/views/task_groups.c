/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "views/task_groups.h"

#include "http/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_names[TASK_STATES] = {"new", "ready", "running", "waiting"};

static int compare_words(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Equal strings of a reading are one, so frames are compared by their addresses. */
static int compare_frames(const struct runtime_task *a, const struct runtime_task *b)
{
	int order = compare_words(a->frame_count, b->frame_count);

	for (uint32_t i = 0; !order && i < a->frame_count; i++) {
		const struct runtime_task_frame *x = &a->frames[i], *y = &b->frames[i];

		order = compare_words((uintptr_t)x->function, (uintptr_t)y->function)
		                ?: compare_words((uintptr_t)x->file, (uintptr_t)y->file)
		                ?: compare_words(x->line, y->line);
	}
	return order;
}

static int same_place(const struct runtime_task *a, const struct runtime_task *b)
{
	return compare_words(a->state, b->state) ?: compare_frames(a, b);
}

static int by_place(const void *left, const void *right, void *ctx)
{
	const struct runtime_task *tasks = ctx;
	const uint32_t *a = left, *b = right;

	return same_place(&tasks[*a], &tasks[*b]) ?: compare_words(*a, *b);
}

static int by_count(const void *left, const void *right)
{
	const struct task_group *a = left, *b = right;

	return compare_words(b->count, a->count) ?: compare_words(a->first, b->first);
}

int task_groups_make(const struct runtime_tasks *tasks, struct task_groups *ret_groups)
{
	uint32_t *order = calloc(tasks->count + 1, sizeof(*order));
	struct task_group *at = calloc(tasks->count + 1, sizeof(*at));
	uint32_t count = 0;

	*ret_groups = (struct task_groups){tasks, order, at, 0};
	if (!order || !at)
		return -ENOMEM;
	for (uint32_t i = 0; i < tasks->count; i++)
		order[i] = i;
	qsort_r(order, tasks->count, sizeof(*order), by_place, tasks->at);
	for (uint32_t i = 0; i < tasks->count; i++) {
		if (!i || same_place(&tasks->at[order[i - 1]], &tasks->at[order[i]]))
			at[count++].first = i;
		at[count - 1].count++;
	}
	qsort(at, count, sizeof(*at), by_count);
	ret_groups->count = count;
	return 0;
}

void task_groups_release(struct task_groups *groups)
{
	free(groups->order);
	free(groups->at);
	*groups = (struct task_groups){0};
}

static const struct runtime_task *task_of(const struct task_groups *groups,
                                          const struct task_group *group, uint32_t i)
{
	return &groups->tasks->at[groups->order[group->first + i]];
}

/* The names of a group's tasks, or of those that they wait for. Returns how many are set. */
static uint32_t list_names(const struct task_groups *groups, const struct task_group *group,
                           bool awaited, const char *ret_names[TASK_GROUP_NAMES])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct runtime_task *task = task_of(groups, group, i);

		for (uint32_t k = 0; k < (awaited ? task->await_count : 1); k++) {
			if (count == TASK_GROUP_NAMES)
				return count;
			ret_names[count++] =
				awaited ? groups->tasks->at[task->awaits[k]].name : task->name;
		}
	}
	return count;
}

static json_t *names_json(const struct task_groups *groups, const struct task_group *group,
                          bool awaited)
{
	const char *names[TASK_GROUP_NAMES];
	uint32_t count = list_names(groups, group, awaited, names);
	json_t *array = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(array, json_text(names[i], strlen(names[i])));
	return array;
}

static json_t *frames_json(const struct runtime_task *task)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < task->frame_count; i++) {
		const struct runtime_task_frame *frame = &task->frames[i];

		json_array_append_new(array,
		                      json_pack("{s:o, s:o, s:I}", "function",
		                                json_text(frame->function, strlen(frame->function)),
		                                "file", json_text(frame->file, strlen(frame->file)),
		                                "line", (json_int_t)frame->line));
	}
	return array;
}

json_t *task_groups_json(const struct task_groups *groups)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < groups->count; i++) {
		const struct task_group *group = &groups->at[i];
		const struct runtime_task *task = task_of(groups, group, 0);

		json_array_append_new(array, json_pack("{s:I, s:s, s:o, s:o, s:o}", "count",
		                                       (json_int_t)group->count, "state",
		                                       state_names[task->state], "names",
		                                       names_json(groups, group, false), "awaits",
		                                       names_json(groups, group, true), "frames",
		                                       frames_json(task)));
	}
	return array;
}

static void add_names(const struct task_groups *groups, const struct task_group *group,
                      bool awaited, const char *before, struct buf *out)
{
	const char *names[TASK_GROUP_NAMES];
	uint32_t count = list_names(groups, group, awaited, names);

	for (uint32_t i = 0; i < count; i++)
		buf_printf(out, "%s%s", i ? ", " : before, names[i]);
	if (count == TASK_GROUP_NAMES)
		buf_add_text(out, " ...");
}

void task_groups_text(const struct task_groups *groups, struct buf *out)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		const struct task_group *group = &groups->at[i];
		const struct runtime_task *task = task_of(groups, group, 0);

		buf_printf(out, "\n%" PRIu32 " %s: ", group->count, state_names[task->state]);
		add_names(groups, group, false, "", out);
		add_names(groups, group, true, ", for ", out);
		buf_add_char(out, '\n');
		for (uint32_t k = 0; k < task->frame_count; k++)
			buf_printf(out, "    %s  %s:%" PRIu32 "\n", task->frames[k].function,
			           task->frames[k].file, task->frames[k].line);
	}
}
