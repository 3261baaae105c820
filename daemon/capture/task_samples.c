/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/task_samples.h"

#include "base/buf.h"
#include "base/clock.h"
#include "ingest/interpreted.h"
#include "profile/awaits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* At the root of a path that is longer. */
#define MORE_FRAME "[...]"

/* One reading. */
struct adding {
	struct builder *builder;
	const struct runtime_tasks *tasks;
	uint32_t version, mapping;
	bool *seen; /* tasks that are in a path */
};

int task_samples_begin(struct task_samples *samples, uint32_t pid, uint64_t from_ns, uint64_t to_ns)
{
	*samples = (struct task_samples){
		.builder = builder_new(),
		.pid = pid,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.at_ns = from_ns,
	};
	return samples->builder ? 0 : -ENOMEM;
}

void task_samples_release(struct task_samples *samples)
{
	builder_free(samples->builder);
	samples->builder = NULL;
}

static uint32_t add_frames(const struct adding *adding, const struct runtime_task *task,
                           uint32_t path)
{
	for (uint32_t i = 0; i < task->frame_count; i++) {
		const struct runtime_task_frame *of = &task->frames[i];
		uint64_t function =
			runtime_function_identity(of->function, of->file, of->first_line);
		const struct runtime_frame frame = {
			.function = of->function,
			.file = of->file,
			.line = of->line,
			.first_line = of->first_line,
			.version = adding->version,
			.identity = runtime_line_identity(function, of->line),
		};

		path = builder_node(adding->builder, path,
		                    interpreted_location(adding->builder, adding->mapping, &frame));
	}
	return path;
}

/* The path of a task, below those that wait for it. */
static uint32_t add_path(struct adding *adding, uint32_t task)
{
	uint32_t chain[TASK_PATH_TASKS + 1], count = 0, path = 0, next = task + 1;
	struct builder *builder = adding->builder;

	/* The memory of a program may say that tasks wait for each other in a circle. */
	for (; next && count <= TASK_PATH_TASKS; next = adding->tasks->at[next - 1].awaited_by) {
		adding->seen[next - 1] = true;
		chain[count++] = next - 1;
	}
	if (next)
		path = builder_node(builder, 0, builder_pseudo(builder, MORE_FRAME));
	while (count--) {
		path = add_frames(adding, &adding->tasks->at[chain[count]], path);
		if (count)
			path = builder_node(builder, path, builder_pseudo(builder, AWAITS_FRAME));
	}
	return path;
}

static void add_sample(struct adding *adding, uint32_t pid, uint32_t task, uint64_t ns)
{
	const struct runtime_task *of = &adding->tasks->at[task];
	const uint64_t values[PROFILE_VALUES] = {1, ns};
	const struct task labels = {
		.pid = pid,
		.task = builder_text(adding->builder, of->name),
		.state = builder_text(adding->builder, runtime_task_states[of->state]),
	};
	uint32_t path = add_path(adding, task);

	/* A task that runs is on a CPU, or the thread that runs it waits. */
	if (of->state != TASK_RUNS)
		builder_sample(adding->builder, path, builder_task(adding->builder, &labels),
		               values);
}

/* Of tasks that wait for each other, the innermost have samples; the others only if they are in no
 * path: one of several that wait for the same task, or of those that wait in a circle. */
static bool add_tasks(struct adding *adding, uint32_t pid, uint64_t ns)
{
	const struct runtime_tasks *tasks = adding->tasks;

	for (int others = 0; others < 2; others++)
		for (uint32_t i = 0; i < tasks->count; i++) {
			bool is_innermost = !tasks->at[i].await_count;

			if (is_innermost ? others : !others || adding->seen[i])
				continue;
			if (builder_memory(adding->builder) > TASK_SLICE_BYTES)
				return false;
			add_sample(adding, pid, i, ns);
		}
	return true;
}

/* The time from `at_ns` on, which is accounted for now. What is after the slice is not of it. */
static uint64_t pass(struct task_samples *samples, uint64_t until_ns)
{
	uint64_t at_ns = samples->at_ns;

	if (until_ns > samples->to_ns)
		until_ns = samples->to_ns;
	if (until_ns > at_ns)
		samples->at_ns = until_ns;
	return samples->at_ns - at_ns;
}

void task_samples_add(struct task_samples *samples, const struct runtime_version *version,
                      const struct runtime_tasks *tasks, uint64_t until_ns)
{
	uint64_t ns = pass(samples, until_ns);
	_cleanup_free_ bool *seen = calloc(tasks->count + 1, sizeof(*seen));
	struct adding adding = {
		.builder = samples->builder,
		.tasks = tasks,
		.version = version->version,
		.mapping = interpreted_mapping(samples->builder, version),
		.seen = seen,
	};

	if (!ns)
		return;
	samples->readings++;
	samples->is_full |= !seen || !add_tasks(&adding, samples->pid, ns);
	samples->is_partial |= tasks->left_out || tasks->is_incomplete;
	if (tasks->count > samples->most)
		samples->most = tasks->count;
}

void task_samples_lose(struct task_samples *samples, uint64_t until_ns)
{
	samples->lost_ns += pass(samples, until_ns);
}

static void describe(const struct task_samples *samples)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	uint64_t whole_ns = samples->to_ns - samples->from_ns;

	buf_printf(&text,
	           "tasks of process %" PRIu32 ": %" PRIu32 " readings in %.1f s, %" PRIu32
	           " tasks at most%s",
	           samples->pid, samples->readings, (double)whole_ns / NSEC_PER_SEC, samples->most,
	           samples->is_partial ? "; not all could be read" : "");
	builder_comment(samples->builder, buf_text(&text));
	/* A hundredth, as of samples. */
	if (!samples->is_full && samples->lost_ns <= whole_ns / 100)
		return;
	buf_clear(&text);
	buf_printf(&text, PROFILE_INCOMPLETE "the tasks of process %" PRIu32, samples->pid);
	if (samples->is_full)
		buf_printf(&text, " take more than %d MiB", TASK_SLICE_BYTES >> 20);
	else
		buf_printf(&text, " could not be read for %.2f of %.2f s",
		           (double)samples->lost_ns / NSEC_PER_SEC,
		           (double)whole_ns / NSEC_PER_SEC);
	builder_comment(samples->builder, buf_text(&text));
}

int task_samples_seal(struct task_samples *samples, struct profile **ret_slice)
{
	struct builder *builder = samples->builder;

	builder_value_type(builder, "events", "count");
	builder_value_type(builder, "tasks", "nanoseconds");
	builder_period(builder, "tasks", "nanoseconds", 1);
	builder_time(builder, samples->from_ns,
	             samples->from_ns + clock_wall_ns() - clock_mono_ns(),
	             samples->to_ns - samples->from_ns);
	describe(samples);
	return builder_seal(builder, ret_slice);
}
