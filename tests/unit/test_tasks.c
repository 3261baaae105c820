/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asynchronous tasks: their strings within a bound, and groups of those at the same place.
 */
#include "tests/unit/suites.h"

#include "views/task_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 30 };

static struct runtime_tasks tasks;

static void start(void)
{
	tasks = (struct runtime_tasks){.at = calloc(TASKS, sizeof(*tasks.at))};
	ck_assert_ptr_nonnull(tasks.at);
}

static void stop(void)
{
	runtime_tasks_release(&tasks);
}

/* Adds a task that is in these functions, which end with NULL. */
static struct runtime_task *add(enum runtime_task_state state, const char *const *functions,
                                uint32_t line)
{
	struct runtime_task *task = &tasks.at[tasks.count];
	char name[32];

	ck_assert_uint_lt(tasks.count, TASKS);
	snprintf(name, sizeof(name), "task-%u", tasks.count++);
	task->name = runtime_tasks_text(&tasks, name);
	task->state = state;
	for (; *functions; functions++)
		task->frames[task->frame_count++] =
			(struct runtime_task_frame){runtime_tasks_text(&tasks, *functions),
		                                    runtime_tasks_text(&tasks, "a.py"), line, 0};
	return task;
}

START_TEST(equal_strings_are_one)
{
	char one[] = "fetch", other[] = "fetch";

	ck_assert_ptr_eq(runtime_tasks_text(&tasks, one), runtime_tasks_text(&tasks, other));
	ck_assert_ptr_ne(runtime_tasks_text(&tasks, one), runtime_tasks_text(&tasks, "fetches"));
}
END_TEST

START_TEST(strings_have_a_bound)
{
	char text[1024];
	size_t kept = 0;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 2000; i++) {
		memcpy(text, &(int){i | 0x01010101}, sizeof(int));
		kept += strcmp(runtime_tasks_text(&tasks, text), "[...]") != 0;
	}
	ck_assert_uint_gt(kept, 100);
	ck_assert_uint_le(tasks.text_bytes, RUNTIME_TASK_TEXT_BYTES);
	/* One that was there before is still itself. */
	memcpy(text, &(int){0x01010101}, sizeof(int));
	ck_assert_str_ne(runtime_tasks_text(&tasks, text), "[...]");
}
END_TEST

START_TEST(those_at_the_same_place_are_together)
{
	static const char *const handle[] = {"handle", "fetch", NULL}, *const main_one[] = {"main",
	                                                                                    NULL};
	_cleanup_(task_groups_release) struct task_groups groups;
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	struct runtime_task *waits;

	waits = add(TASK_WAITS, main_one, 7);
	add(TASK_WAITS, handle, 3);
	add(TASK_READY, handle, 3);
	add(TASK_WAITS, handle, 4);
	add(TASK_WAITS, handle, 3);
	waits->awaits[waits->await_count++] = 4;
	ck_assert_int_eq(task_groups_make(&tasks, &groups), 0);
	ck_assert_uint_eq(groups.count, 4);
	ck_assert_uint_eq(groups.at[0].count, 2);
	task_groups_text(&groups, &text);
	ck_assert_ptr_nonnull(strstr(buf_text(&text),
	                             "\n2 waiting: task-1, task-4\n    handle  a.py:3\n"
	                             "    fetch  a.py:3\n"));
	ck_assert_ptr_nonnull(
		strstr(buf_text(&text), "\n1 waiting: task-0, for task-4\n    main  a.py:7\n"));
	ck_assert_ptr_nonnull(strstr(buf_text(&text), "\n1 ready: task-2\n"));
}
END_TEST

START_TEST(few_of_many_names_are_said)
{
	static const char *const handle[] = {"handle", NULL};
	_cleanup_(task_groups_release) struct task_groups groups;
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	json_t *array;

	for (int i = 0; i < TASKS; i++) {
		struct runtime_task *task = add(TASK_WAITS, handle, 3);

		task->awaits[task->await_count++] = 0;
	}
	ck_assert_int_eq(task_groups_make(&tasks, &groups), 0);
	array = task_groups_json(&groups);
	ck_assert_uint_eq(json_array_size(array), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(array, 0), "count")),
	                 TASKS);
	ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(array, 0), "names")),
	                  TASK_GROUP_NAMES);
	/* One that all wait for is said once. */
	ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(array, 0), "awaits")), 1);
	json_decref(array);
	ck_assert_uint_ge(task_groups_bytes(&groups), strlen("handle") + strlen("a.py"));
	task_groups_text(&groups, &text);
	ck_assert_ptr_nonnull(strstr(buf_text(&text), "task-9 ..., for task-0\n"));
}
END_TEST

START_TEST(none)
{
	_cleanup_(task_groups_release) struct task_groups groups;

	ck_assert_int_eq(task_groups_make(&tasks, &groups), 0);
	ck_assert_uint_eq(groups.count, 0);
}
END_TEST

Suite *tasks_suite(void)
{
	Suite *suite = suite_create("tasks");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, start, stop);
	tcase_add_test(tests, equal_strings_are_one);
	tcase_add_test(tests, strings_have_a_bound);
	tcase_add_test(tests, those_at_the_same_place_are_together);
	tcase_add_test(tests, few_of_many_names_are_said);
	tcase_add_test(tests, none);
	suite_add_tcase(suite, tests);
	return suite;
}
