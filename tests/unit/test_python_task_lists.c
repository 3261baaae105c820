/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * asyncio's tasks as CPython 3.14 has them, in an imaginary memory: lists of tasks, frames that the
 * coroutines have in themselves, and tasks that say who waits for them.
 */
#include "cpython/python_tasks.h"
#include "tests/unit/python_memory.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { LAYOUT_3_13 = 5, THREAD_NEXT = 8, THREADS = 800, NEXT = 808 };
/* In a task, in a future, in a coroutine, in the frame of that. */
enum { STATE = 104, WAITER = 120, FRAME_STATE = 67, FRAME = 72, STACK_TOP = 64, LOCALS = 80 };

static const struct python_asyncio asyncio = {
	.task_name = 136,
	.task_coroutine = 128,
	.task_awaited_by = 96,
	.task_awaited_by_set = 109,
	.task_node = 152,
	.thread_tasks = 880,
	.interpreter_tasks = 1088,
};

static struct python_memory *memory;
static uint64_t interpreter, thread, future;
static struct runtime_tasks tasks;

static void put_byte(uint64_t address, int8_t byte)
{
	memcpy(memory->bytes + (address - PYTHON_MEMORY), &byte, sizeof(byte));
}

static uint64_t put_object(const char *type_name, size_t bytes)
{
	uint64_t name = python_memory_take(memory, strlen(type_name) + 1);
	uint64_t type = python_memory_take(memory, 32), object = python_memory_take(memory, bytes);

	memcpy(memory->bytes + (name - PYTHON_MEMORY), type_name, strlen(type_name) + 1);
	python_memory_put(memory, type + 24, name);
	python_memory_put(memory, object + 8, type);
	return object;
}

static void link_node(uint64_t node, uint64_t next)
{
	python_memory_put(memory, node, next);
}

static void set_up(void)
{
	memory = python_memory_new(LAYOUT_3_13);
	struct python_process *process = &memory->process;

	process->version = 0x030e;
	process->object_type = 0;
	process->interpreter_next = NEXT;
	process->interpreter_threads = THREADS;
	process->thread_next = THREAD_NEXT;
	process->frame_code = 0;
	process->frame_instruction = 56;
	process->code_qualname = 8;
	process->code_filename = 16;
	process->code_first_line = 24;
	process->code_lines = 32;
	process->code_bytecode = 40;
	process->interpreters = python_memory_take(memory, 8);
	interpreter = python_memory_take(memory, 2048);
	thread = python_memory_take(memory, 1024);
	python_memory_put(memory, process->interpreters, interpreter);
	python_memory_put(memory, interpreter + THREADS, thread);
	link_node(interpreter + asyncio.interpreter_tasks, interpreter + asyncio.interpreter_tasks);
	link_node(thread + asyncio.thread_tasks, thread + asyncio.thread_tasks);
	future = put_object("_asyncio.Future", 128);
}

static void tear_down(void)
{
	runtime_tasks_release(&tasks);
	free(memory);
}

/* A coroutine that is suspended, and awaits another one; 0: something else. */
static uint64_t put_coroutine(const char *function, uint64_t awaited)
{
	const uint64_t tag = 1;
	uint64_t code = python_memory_take(memory, 64);
	uint64_t coroutine = put_object("coroutine", 256), frame = coroutine + FRAME;

	python_memory_put(memory, code + 8, python_memory_ascii(memory, function));
	python_memory_put(memory, code + 16, python_memory_ascii(memory, "/a.py"));
	python_memory_put(memory, code + 24, 7);
	put_byte(coroutine + FRAME_STATE, -1);
	python_memory_put(memory, frame, code | tag);
	python_memory_put(memory, frame + STACK_TOP, frame + LOCALS + 8);
	python_memory_put(memory, frame + LOCALS, (awaited ? awaited : future) | tag);
	return coroutine;
}

/* A task that waits for a future, in front of the others of a list. */
static uint64_t put_task(uint64_t head, const char *name, uint64_t coroutine)
{
	uint64_t task = put_object("_asyncio.Task", 168), node = task + asyncio.task_node, first;

	python_memory_put(memory, task + asyncio.task_name, python_memory_ascii(memory, name));
	python_memory_put(memory, task + asyncio.task_coroutine, coroutine);
	python_memory_put(memory, task + WAITER, future);
	memcpy(&first, memory->bytes + (head - PYTHON_MEMORY), sizeof(first));
	link_node(node, first);
	link_node(head, node);
	return task;
}

static uint64_t put_simple(uint64_t head, const char *name)
{
	return put_task(head, name, put_coroutine(name, 0));
}

static void read_all(void)
{
	struct python_objects objects = python_memory_objects(memory);

	ck_assert_int_eq(python_tasks_read(&objects, &asyncio, &tasks), 0);
	ck_assert_ptr_eq(objects.process, &memory->process);
}

static const struct runtime_task *task_named(const char *name)
{
	for (uint32_t i = 0; i < tasks.count; i++)
		if (!strcmp(tasks.at[i].name, name))
			return &tasks.at[i];
	ck_abort_msg("no task %s", name);
}

/* The names of the tasks that it waits for. */
static const char *awaits_of(const char *name)
{
	const struct runtime_task *task = task_named(name);
	static char text[128];

	text[0] = '\0';
	for (uint32_t i = 0; i < task->await_count; i++) {
		strcat(text, tasks.at[task->awaits[i]].name);
		strcat(text, " ");
		ck_assert_ptr_eq(&tasks.at[tasks.at[task->awaits[i]].awaited_by - 1], task);
	}
	return text;
}

START_TEST(in_all_lists)
{
	uint64_t other = python_memory_take(memory, 1024);

	python_memory_put(memory, thread + THREAD_NEXT, other);
	link_node(other + asyncio.thread_tasks, other + asyncio.thread_tasks);
	put_simple(thread + asyncio.thread_tasks, "one");
	put_simple(thread + asyncio.thread_tasks, "two");
	put_simple(other + asyncio.thread_tasks, "three");
	put_task(interpreter + asyncio.interpreter_tasks, "four",
	         put_coroutine("outer", put_coroutine("inner", 0)));
	/* Its loop has called it: it has ended. */
	put_task(thread + asyncio.thread_tasks, "ended", 0);
	read_all();
	ck_assert_uint_eq(tasks.count, 4);
	ck_assert(!tasks.is_incomplete);
	ck_assert_str_eq(task_named("one")->frames[0].function, "one");
	ck_assert_str_eq(task_named("one")->frames[0].file, "/a.py");
	ck_assert_uint_eq(task_named("one")->frames[0].line, 7);
	ck_assert_int_eq(task_named("three")->state, TASK_WAITS);
	ck_assert_uint_eq(task_named("four")->frame_count, 2);
	ck_assert_str_eq(task_named("four")->frames[1].function, "inner");
}
END_TEST

static void put_awaited_by(uint64_t task, uint64_t by)
{
	python_memory_put(memory, task + asyncio.task_awaited_by, by);
}

START_TEST(who_waits_for_whom)
{
	uint64_t head = thread + asyncio.thread_tasks, table = python_memory_take(memory, 4 * 16);
	uint64_t group = put_task(head, "group",
	                          put_coroutine("works", put_coroutine("TaskGroup._aexit", 0)));
	uint64_t body = put_task(head, "body", put_coroutine("works", put_coroutine("sleep", 0)));
	uint64_t direct = put_simple(head, "direct"), set = put_object("set", 64);
	uint64_t child = put_simple(head, "child"), shared = put_simple(head, "shared");
	uint64_t early = put_simple(head, "early"), awaited = put_simple(head, "awaited");

	put_awaited_by(child, group);
	/* Two groups have it; the program is still in the body of one. */
	put_awaited_by(shared, set);
	put_byte(shared + asyncio.task_awaited_by_set, 1);
	python_memory_put(memory, set + 32, 3);
	python_memory_put(memory, set + 40, table);
	python_memory_put(memory, table, group);
	python_memory_put(memory, table + 16, body);
	/* A removed entry. */
	python_memory_put(memory, table + 32, direct);
	python_memory_put(memory, table + 40, UINT64_MAX);
	put_awaited_by(early, body);
	put_awaited_by(awaited, direct);
	python_memory_put(memory, direct + WAITER, awaited);
	read_all();
	ck_assert_uint_eq(tasks.count, 7);
	ck_assert(strstr(awaits_of("group"), "child ") && strstr(awaits_of("group"), "shared "));
	ck_assert_uint_eq(task_named("group")->await_count, 2);
	ck_assert_str_eq(awaits_of("body"), "");
	ck_assert_str_eq(awaits_of("direct"), "awaited ");
}
END_TEST

START_TEST(states)
{
	uint64_t head = thread + asyncio.thread_tasks, done = put_object("_asyncio.Future", 128);
	uint64_t fresh = put_coroutine("fresh", 0), runs = put_coroutine("runs", 0);

	put_byte(fresh + FRAME_STATE, -3);
	put_byte(runs + FRAME_STATE, 0);
	put_task(head, "fresh", fresh);
	put_task(head, "runs", runs);
	put_byte(done + STATE, 1);
	python_memory_put(memory, put_simple(head, "ready") + WAITER, done);
	read_all();
	ck_assert_int_eq(task_named("fresh")->state, TASK_NEW);
	ck_assert_int_eq(task_named("runs")->state, TASK_RUNS);
	ck_assert_int_eq(task_named("ready")->state, TASK_READY);
}
END_TEST

/* The program writes while it is read. */
START_TEST(lists_that_do_not_end)
{
	uint64_t head = thread + asyncio.thread_tasks;
	uint64_t first = put_simple(head, "first"), second = put_simple(head, "second");

	link_node(first + asyncio.task_node, second + asyncio.task_node);
	read_all();
	ck_assert_uint_eq(tasks.count, 2);
	ck_assert(tasks.is_incomplete);
	runtime_tasks_release(&tasks);
	link_node(first + asyncio.task_node, 17);
	read_all();
	ck_assert_uint_eq(tasks.count, 2);
	ck_assert(tasks.is_incomplete);
}
END_TEST

START_TEST(without_asyncio)
{
	const struct python_asyncio none = {0};
	struct python_objects objects = python_memory_objects(memory);

	put_simple(thread + asyncio.thread_tasks, "one");
	ck_assert_int_eq(python_tasks_read(&objects, &none, &tasks), 0);
	ck_assert_uint_eq(tasks.count, 0);
	ck_assert(!tasks.is_incomplete);
}
END_TEST

Suite *python_task_lists_suite(void)
{
	Suite *suite = suite_create("python_task_lists");
	TCase *tests = tcase_create("lists");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, in_all_lists);
	tcase_add_test(tests, who_waits_for_whom);
	tcase_add_test(tests, states);
	tcase_add_test(tests, lists_that_do_not_end);
	tcase_add_test(tests, without_asyncio);
	suite_add_tcase(suite, tests);
	return suite;
}
