/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asynchronous tasks in profiles: the samples of a reading, and where what runs in tasks goes.
 */
#include "tests/unit/suites.h"
#include "tests/unit/wall_profile.h"

#include "capture/task_samples.h"
#include "profile/awaits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PID = 1, TASKS = 40 };

static const struct runtime runtime = {.name = "python"};
static const struct runtime_version version = {&runtime, 0x030b};

static struct runtime_tasks tasks;
static struct task_samples samples;
static struct builder *builder;

static void start(void)
{
	tasks = (struct runtime_tasks){.at = calloc(TASKS, sizeof(*tasks.at))};
	ck_assert_ptr_nonnull(tasks.at);
	ck_assert_int_eq(task_samples_begin(&samples, PID, 100 * MS, 200 * MS), 0);
	builder = samples.builder;
	view_describe(VIEW_wall, builder);
}

static void stop(void)
{
	runtime_tasks_release(&tasks);
	task_samples_release(&samples);
}

/* The tasks are as they are now, up to so many milliseconds of the slice. */
static void read_until(uint64_t ms)
{
	task_samples_add(&samples, &version, &tasks, (100 + ms) * MS);
}

/* Adds a task that is in one function, for which another task waits: that task's index, or -1. */
static uint32_t task(enum runtime_task_state state, const char *function, int awaited_by)
{
	struct runtime_task *task = &tasks.at[tasks.count];

	ck_assert_uint_lt(tasks.count, TASKS);
	task->name = function;
	task->state = state;
	task->frames[task->frame_count++] =
		(struct runtime_task_frame){.function = function, .file = "/a.py", .line = 7};
	task->awaited_by = (uint32_t)(awaited_by + 1);
	if (awaited_by >= 0)
		tasks.at[awaited_by].await_count++;
	return tasks.count++;
}

/* A path from its root: "main>[awaits]>f". */
static void write_path(const struct profile *profile, uint32_t node, char text[256])
{
	const struct location *location = &profile->locations[profile->nodes[node].location];
	const char *name =
		location->line_count
			? profile_string(
				  profile,
				  profile->functions[profile->lines[location->first_line].function]
					  .name)
			: profile_string(profile, profile->mappings[location->mapping].path);
	size_t len;

	text[0] = '\0';
	if (!node)
		return;
	if (profile->nodes[node].parent)
		write_path(profile, profile->nodes[node].parent, text);
	len = strlen(text);
	snprintf(text + len, 256 - len, "%s%s", len ? ">" : "", name);
}

/* The time of the samples with this path, state and task. */
static uint64_t time_of(const char *path, const char *state, const char *name)
{
	const struct profile *profile = builder_view(builder);
	uint64_t ns = 0;
	char text[256];

	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct task *of_sample = &profile->tasks[profile->samples[i].task];

		write_path(profile, profile->samples[i].node, text);
		if (!strcmp(text, path) &&
		    !strcmp(profile_string(profile, of_sample->state), state) &&
		    !strcmp(profile_string(profile, of_sample->task), name))
			ns += profile->samples[i].values[1];
	}
	return ns;
}

START_TEST(those_that_wait_have_samples)
{
	uint32_t above = task(TASK_WAITS, "main", -1);

	task(TASK_WAITS, "f", (int)above);
	task(TASK_READY, "g", (int)above);
	task(TASK_RUNS, "h", (int)above);
	task(TASK_NEW, "i", -1);
	read_until(5);
	read_until(7);
	ck_assert_uint_eq(time_of("main>[awaits]>f", "waiting", "f"), 7 * MS);
	ck_assert_uint_eq(time_of("main>[awaits]>g", "ready", "g"), 7 * MS);
	ck_assert_uint_eq(time_of("i", "new", "i"), 7 * MS);
	ck_assert_uint_eq(builder_view(builder)->sample_count, 1 + 3);
}
END_TEST

START_TEST(those_that_wait_in_a_circle_have_one)
{
	uint32_t one = task(TASK_WAITS, "a", -1), other = task(TASK_WAITS, "b", (int)one);
	const struct profile *profile;
	char text[256];

	tasks.at[one].awaited_by = other + 1;
	tasks.at[other].await_count = 1;
	read_until(1);
	profile = builder_view(builder);
	ck_assert_uint_eq(profile->sample_count, 1 + 1);
	write_path(profile, profile->samples[1].node, text);
	ck_assert_ptr_eq(strstr(text, "[...]>a>[awaits]>b>[awaits]>a"), text);
	ck_assert_uint_eq(strlen(text),
	                  strlen("[...]") + 17 * strlen(">a") + 16 * strlen(">[awaits]"));
}
END_TEST

START_TEST(of_several_that_wait_for_one_each_has_its_time)
{
	uint32_t first = task(TASK_WAITS, "a", -1), second = task(TASK_WAITS, "b", -1);

	task(TASK_WAITS, "f", (int)first);
	tasks.at[second].await_count = 1;
	read_until(1);
	ck_assert_uint_eq(time_of("a>[awaits]>f", "waiting", "f"), MS);
	ck_assert_uint_eq(time_of("b", "waiting", "b"), MS);
	ck_assert_uint_eq(builder_view(builder)->sample_count, 1 + 2);
}
END_TEST

START_TEST(who_waits_for_one_that_runs_has_none)
{
	uint32_t above = task(TASK_WAITS, "main", -1);

	task(TASK_RUNS, "f", (int)above);
	read_until(1);
	ck_assert_uint_eq(builder_view(builder)->sample_count, 1);
}
END_TEST

/* The comments of a slice, each with a newline. */
static const char *comments_of(const struct profile *slice, char text[512])
{
	size_t len = 0;

	for (uint32_t i = 1; i < slice->comment_count; i++)
		len += (size_t)snprintf(text + len, 512 - len, "%s\n",
		                        profile_string(slice, slice->comments[i]));
	return text;
}

START_TEST(time_is_that_of_the_slice)
{
	_cleanup_(profile_unrefp) struct profile *slice = NULL;
	char text[512] = "";

	task(TASK_WAITS, "f", -1);
	task_samples_lose(&samples, 110 * MS);
	read_until(60);
	read_until(50);
	read_until(500);
	ck_assert_uint_eq(time_of("f", "waiting", "f"), 90 * MS);
	ck_assert_int_eq(task_samples_seal(&samples, &slice), 0);
	ck_assert_uint_eq(slice->duration_ns, 100 * MS);
	ck_assert_str_eq(comments_of(slice, text),
	                 "tasks of process 1: 2 readings in 0.1 s, 1 tasks at most\n"
	                 "incomplete: the tasks of process 1 could not be read for 0.01 of 0.10 "
	                 "s\n");
}
END_TEST

START_TEST(it_has_a_bound)
{
	_cleanup_(profile_unrefp) struct profile *slice = NULL;
	char text[512] = "";

	for (uint32_t i = 0; i < TASKS; i++)
		tasks.at[task(TASK_WAITS, "f", -1)].frame_count = RUNTIME_TASK_FRAMES;
	for (uint32_t at = 0; at < 100 && !samples.is_full; at++) {
		for (uint32_t i = 0; i < TASKS; i++)
			for (uint32_t k = 0; k < RUNTIME_TASK_FRAMES; k++)
				tasks.at[i].frames[k] = (struct runtime_task_frame){
					"f", "/a.py", (at * TASKS + i) * 100 + k, 1};
		read_until(at + 1);
		ck_assert_uint_le(builder_memory(builder), 3 * TASK_SLICE_BYTES);
	}
	ck_assert(samples.is_full);
	ck_assert_int_eq(task_samples_seal(&samples, &slice), 0);
	ck_assert_ptr_nonnull(strstr(comments_of(slice, text),
	                             "incomplete: the tasks of process 1 take more than 2 MiB"));
}
END_TEST

#define RUN       PYTHON("Handle._run", "/usr/lib/python3.11/asyncio/events.py")
#define OWN(name) PYTHON(name, "/a.py")

static void run_in(const struct frame *frames)
{
	add(builder, RUNNING, frames, 1, MS);
}

START_TEST(what_runs_is_below_who_waits)
{
	uint32_t above = task(TASK_WAITS, "main", -1);

	task(TASK_WAITS, "f", (int)above);
	read_until(1);
	run_in(FRAMES(USER("start"), RUN, USER("task_step"), OWN("f"), OWN("g"), USER("memcpy")));
	/* Called by others than the loop. */
	run_in(FRAMES(USER("start"), OWN("x"), OWN("f")));
	run_in(FRAMES(USER("start"), RUN, OWN("x"), OWN("f")));
	run_in(FRAMES(USER("start"), PYTHON("Handle._run", "/home/events.py"), OWN("f")));
	ck_assert_int_eq(awaits_join(builder), 0);
	ck_assert_uint_eq(time_of("main>[awaits]>f>g>memcpy", "running", ""), MS);
	ck_assert_uint_eq(time_of("start>x>f", "running", ""), MS);
	ck_assert_uint_eq(time_of("start>Handle._run>x>f", "running", ""), MS);
	ck_assert_uint_eq(time_of("start>Handle._run>f", "running", ""), MS);
	ck_assert_uint_eq(time_of("main>[awaits]>f", "waiting", "f"), MS);
}
END_TEST

START_TEST(what_runs_for_several_is_below_none)
{
	uint32_t above = task(TASK_WAITS, "main", -1), other = task(TASK_WAITS, "other", -1);

	task(TASK_WAITS, "f", (int)above);
	task(TASK_WAITS, "f", (int)other);
	read_until(1);
	run_in(FRAMES(USER("start"), RUN, USER("task_step"), OWN("f")));
	ck_assert_int_eq(awaits_join(builder), 0);
	ck_assert_uint_eq(time_of("f", "running", ""), MS);
}
END_TEST

START_TEST(what_runs_is_below_most)
{
	uint32_t above = task(TASK_WAITS, "main", -1), child = task(TASK_WAITS, "f", (int)above);

	read_until(95);
	tasks.at[child].awaited_by = 0;
	read_until(100);
	run_in(FRAMES(USER("start"), RUN, USER("task_step"), OWN("f")));
	ck_assert_int_eq(awaits_join(builder), 0);
	ck_assert_uint_eq(time_of("main>[awaits]>f", "running", ""), MS);
}
END_TEST

START_TEST(labels_are_those_of_the_process)
{
	const struct profile *profile;
	struct task thread = {.pid = PID, .tid = 2, .comm = builder_text(builder, "server")};
	struct task foreign = {.pid = 3, .tid = 3, .comm = builder_text(builder, "other")};

	task(TASK_WAITS, "f", -1);
	builder_task(builder, &foreign);
	read_until(1);
	builder_task(builder, &thread);
	ck_assert_int_eq(awaits_join(builder), 0);
	profile = builder_view(builder);
	ck_assert_str_eq(profile_string(profile, profile->tasks[profile->samples[1].task].comm),
	                 "server");
}
END_TEST

Suite *awaits_suite(void)
{
	Suite *suite = suite_create("awaits");
	TCase *tcase = tcase_create("awaits");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, those_that_wait_have_samples);
	tcase_add_test(tcase, those_that_wait_in_a_circle_have_one);
	tcase_add_test(tcase, of_several_that_wait_for_one_each_has_its_time);
	tcase_add_test(tcase, who_waits_for_one_that_runs_has_none);
	tcase_add_test(tcase, time_is_that_of_the_slice);
	tcase_add_test(tcase, it_has_a_bound);
	tcase_add_test(tcase, what_runs_is_below_who_waits);
	tcase_add_test(tcase, what_runs_for_several_is_below_none);
	tcase_add_test(tcase, what_runs_is_below_most);
	tcase_add_test(tcase, labels_are_those_of_the_process);
	suite_add_tcase(suite, tcase);
	return suite;
}
