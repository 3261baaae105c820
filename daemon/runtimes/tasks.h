/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct runtime_tasks - the asynchronous tasks of a program as one reading of its memory found
 * them: what each of them has called and waits for. asyncio's tasks, of CPython.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RUNTIME_TASK_TEXT_BYTES = 1 << 20,
	RUNTIME_TASKS = 1000,     /* in one reading; references to others are counted */
	RUNTIME_TASK_FRAMES = 32, /* of one task; the innermost are left out */
	RUNTIME_TASK_AWAITS = 8,  /* tasks that one task waits for; others are left out */
};

enum runtime_task_state {
	TASK_NEW,   /* has not begun */
	TASK_READY, /* waits for its turn */
	TASK_RUNS,
	TASK_WAITS, /* for something that is not done yet */
	TASK_STATES
};

extern const char *const runtime_task_states[TASK_STATES]; /* for users */

struct runtime_task_frame {
	const char *function, *file; /* of the reading; UTF-8 */
	uint32_t line;               /* that is being executed; 0: not known */
	uint32_t first_line;         /* of the function */
};

struct runtime_task {
	const char *name; /* of the reading; UTF-8 */
	enum runtime_task_state state;
	struct runtime_task_frame frames[RUNTIME_TASK_FRAMES]; /* the outermost first */
	uint32_t frame_count;
	bool is_cut;                          /* it has further frames */
	uint32_t awaits[RUNTIME_TASK_AWAITS]; /* indices of tasks */
	uint32_t await_count;
	uint32_t awaited_by; /* one of the tasks that wait for it, as its index + 1; 0: none */
};

struct runtime_tasks {
	struct runtime_task *at;
	uint32_t count, left_out;
	bool is_incomplete;              /* the program has more than is read */
	struct runtime_task_text *texts; /* own the strings */
	size_t text_bytes;
};

void runtime_tasks_release(struct runtime_tasks *tasks);
/* Returns a copy that lives as long as the reading; equal strings are one. Once all of them take
 * RUNTIME_TASK_TEXT_BYTES, "[...]" stands for further ones. NULL: out of memory. */
const char *runtime_tasks_text(struct runtime_tasks *tasks, const char *text);

/* How a process's tasks are read; made on the loop thread. */
struct runtime_tasks_plan {
	uint32_t pid, owner; /* the user that runs it */
	uint64_t seen_ns;    /* all programs of that time were known, CLOCK_MONOTONIC */
	int (*read)(const struct runtime_tasks_plan *plan, struct runtime_tasks *ret_tasks);
	uint64_t own[64]; /* of the runtime */
};

/* Reads the memory of the process, which may hang: aside (base/aside.h). Whose memory it was must
 * be checked afterwards (collector_check_tasks()). 0 or negative errno. The result must be released
 * in any case. */
static inline int runtime_tasks_read(const struct runtime_tasks_plan *plan,
                                     struct runtime_tasks *ret_tasks)
{
	return plan->read(plan, ret_tasks);
}
