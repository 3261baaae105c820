/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct task_samples - a slice in the making: what the asynchronous tasks of a process waited for,
 * as profile/awaits.h describes it. Its time is accounted for from its beginning on, a piece after
 * the other. Bounded by TASK_SLICE_BYTES. Pure; one thread at a time.
 */
#pragma once

#include "profile/builder.h"
#include "runtimes/runtimes.h"
#include "runtimes/tasks.h"

enum {
	TASK_SLICE_BYTES = 2 << 20,
	/* The path of a task has those of this many others, one of which waits for the next. */
	TASK_PATH_TASKS = 16,
};

struct task_samples {
	struct builder *builder;
	uint32_t pid;
	uint64_t from_ns, to_ns; /* of the slice; CLOCK_MONOTONIC */
	uint64_t at_ns;          /* the time before is accounted for */
	uint64_t lost_ns;        /* of it; no reading tells of it */
	uint32_t readings, most; /* tasks at once */
	bool is_full;            /* TASK_SLICE_BYTES */
	bool is_partial;         /* a reading did not have all tasks */
};

/* 0 or -ENOMEM. Must be released in any case. */
int task_samples_begin(struct task_samples *samples, uint32_t pid, uint64_t from_ns,
                       uint64_t to_ns);
void task_samples_release(struct task_samples *samples);
/* From `at_ns` to that time the tasks were as a reading found them. Each of those that wait has a
 * sample, or is in the path of another one. */
void task_samples_add(struct task_samples *samples, const struct runtime_version *version,
                      const struct runtime_tasks *tasks, uint64_t until_ns);
/* From `at_ns` to that time nothing is known of them. */
void task_samples_lose(struct task_samples *samples, uint64_t until_ns);
/* Ends the slice at `to_ns`. 0 or -ENOMEM. */
int task_samples_seal(struct task_samples *samples, struct profile **ret_slice);
