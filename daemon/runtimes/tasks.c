/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtimes/tasks.h"

#include "base/table.h"

#include <stdlib.h>
#include <string.h>

const char *const runtime_task_states[TASK_STATES] = {"new", "ready", "running", "waiting"};

struct runtime_task_text {
	UT_hash_handle hh;
	char text[];
};

void runtime_tasks_release(struct runtime_tasks *tasks)
{
	struct runtime_task_text *text, *next;

	HASH_ITER (hh, tasks->texts, text, next) {
		HASH_DEL(tasks->texts, text);
		free(text);
	}
	free(tasks->at);
	*tasks = (struct runtime_tasks){0};
}

const char *runtime_tasks_text(struct runtime_tasks *tasks, const char *text)
{
	size_t len = strlen(text);
	struct runtime_task_text *entry;

	HASH_FIND(hh, tasks->texts, text, len, entry);
	if (entry)
		return entry->text;
	if (tasks->text_bytes + sizeof(*entry) + len > RUNTIME_TASK_TEXT_BYTES)
		return "[...]";
	entry = calloc(1, sizeof(*entry) + len + 1);
	if (!entry)
		return NULL;
	tasks->text_bytes += sizeof(*entry) + len;
	memcpy(entry->text, text, len + 1);
	HASH_ADD_KEYPTR(hh, tasks->texts, entry->text, len, entry);
	if (entry->hh.tbl)
		return entry->text;
	free(entry);
	return NULL;
}
