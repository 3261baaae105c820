/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "views/task_groups.h"

#include "http/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

struct names {
	const char *at[TASK_GROUP_NAMES];
	uint32_t count;
	bool has_more;
};

/* Equal strings of a reading are one. */
static void add_name(struct names *names, const char *name, bool may_repeat)
{
	for (uint32_t i = 0; i < names->count && !may_repeat; i++)
		if (names->at[i] == name)
			return;
	if (names->count < TASK_GROUP_NAMES)
		names->at[names->count++] = name;
	else
		names->has_more = true;
}

/* The names of a group's tasks, or of those that they wait for. */
static struct names list_names(const struct task_groups *groups, const struct task_group *group,
                               bool awaited)
{
	struct names names = {.count = 0};

	for (uint32_t i = 0; i < group->count && !names.has_more; i++) {
		const struct runtime_task *task = task_of(groups, group, i);

		if (!awaited)
			add_name(&names, task->name, true);
		for (uint32_t k = 0; awaited && k < task->await_count; k++)
			add_name(&names, groups->tasks->at[task->awaits[k]].name, false);
	}
	return names;
}

static json_t *names_json(const struct task_groups *groups, const struct task_group *group,
                          bool awaited)
{
	struct names names = list_names(groups, group, awaited);
	json_t *array = json_array();

	for (uint32_t i = 0; i < names.count; i++)
		json_array_append_new(array, json_text(names.at[i], strlen(names.at[i])));
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

size_t task_groups_bytes(const struct task_groups *groups)
{
	enum { ROW_BYTES = 64 }; /* of JSON, beside the names */
	size_t bytes = 0;

	for (uint32_t i = 0; i < groups->count; i++) {
		const struct runtime_task *task = task_of(groups, &groups->at[i], 0);

		bytes += ROW_BYTES * (1 + TASK_GROUP_NAMES);
		for (uint32_t k = 0; k < task->frame_count; k++)
			bytes += ROW_BYTES + strlen(task->frames[k].function) +
			         strlen(task->frames[k].file);
	}
	return bytes;
}

json_t *task_groups_json(const struct task_groups *groups)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < groups->count; i++) {
		const struct task_group *group = &groups->at[i];
		const struct runtime_task *task = task_of(groups, group, 0);

		json_array_append_new(array, json_pack("{s:I, s:s, s:b, s:o, s:o, s:o}", "count",
		                                       (json_int_t)group->count, "state",
		                                       runtime_task_states[task->state], "cut",
		                                       task->is_cut, "names",
		                                       names_json(groups, group, false), "awaits",
		                                       names_json(groups, group, true), "frames",
		                                       frames_json(task)));
	}
	return array;
}

static void add_names(const struct task_groups *groups, const struct task_group *group,
                      bool awaited, const char *before, struct buf *out)
{
	struct names names = list_names(groups, group, awaited);

	for (uint32_t i = 0; i < names.count; i++)
		buf_printf(out, "%s%s", i ? ", " : before, names.at[i]);
	if (names.has_more)
		buf_add_text(out, " ...");
}

void task_groups_text(const struct task_groups *groups, struct buf *out)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		const struct task_group *group = &groups->at[i];
		const struct runtime_task *task = task_of(groups, group, 0);

		buf_printf(out, "\n%" PRIu32 " %s: ", group->count,
		           runtime_task_states[task->state]);
		add_names(groups, group, false, "", out);
		add_names(groups, group, true, ", for ", out);
		buf_add_char(out, '\n');
		for (uint32_t k = 0; k < task->frame_count; k++)
			buf_printf(out, "    %s  %s:%" PRIu32 "\n", task->frames[k].function,
			           task->frames[k].file, task->frames[k].line);
		if (task->is_cut)
			buf_add_text(out, "    ...\n");
	}
}
