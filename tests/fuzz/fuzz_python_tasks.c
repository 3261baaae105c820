/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the memory of a program with asyncio's tasks, of each version that tells of them:
 * reading them ends, within its bounds, and what is found can be shown.
 */
#include "base/clean.h"
#include "base/text.h"
#include "cpython/python_awaits.h"
#include "python/python_layouts.h"
#include "cpython/python_tasks.h"
#include "views/task_groups.h"

#include <stdlib.h>
#include <string.h>

/* Types and their names are where a word leads that is odd. */
enum { BASE = 0x10000, TYPES = 0x800000, NAMES = 0x900000, ROOM = 0x100, TYPE_NAME = 24 };

static const char *const names[] = {
	"coroutine",
	"generator",
	"async_generator",
	"coroutine_wrapper",
	"async_generator_asend",
	"int",
	"_GatheringFuture",
	"_asyncio.Task",
	"_asyncio.Future",
	"set",
	"weakref",
};
enum { TYPE_COUNT = sizeof(names) / sizeof(*names) };

struct memory {
	const uint8_t *bytes;
	size_t size;
	uint32_t reads;
};

static uint8_t byte_at(const struct memory *memory, uint64_t address)
{
	size_t type = (address - NAMES) / ROOM, at = (address - NAMES) % ROOM;

	if (address >= NAMES && type < TYPE_COUNT)
		return at < strlen(names[type]) ? (uint8_t)names[type][at] : 0;
	return memory->bytes[(address - BASE) % memory->size];
}

static uint64_t word_at(const struct memory *memory, uint64_t address)
{
	uint64_t word = 0;

	if (address >= TYPES && address < NAMES && (address - TYPES) % ROOM == TYPE_NAME)
		return address - TYPES - TYPE_NAME + NAMES;
	for (int i = 0; i < 8; i++)
		word |= (uint64_t)byte_at(memory, address + (uint64_t)i) << (8 * i);
	return word % 8 == 1 ? TYPES + word / 8 % TYPE_COUNT * ROOM : word;
}

static int read_memory(void *ctx, uint64_t address, void *into, size_t len)
{
	struct memory *memory = ctx;
	uint8_t *to = into;

	if (++memory->reads > MAX_PYTHON_TASK_READS)
		abort();
	if (!memory->size || address % 64 == 63)
		return -1;
	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t word = word_at(memory, address + i);

		memcpy(to + i, &word, sizeof(word));
	}
	for (size_t i = len / 8 * 8; i < len; i++)
		to[i] = byte_at(memory, address + i);
	return 0;
}

static struct python_process layout_of(uint8_t which)
{
	struct python_process process = *python_layout(which % 4 ? 0x030c : 0x030b);

	if (which % 4 >= 2)
		process.version = which % 4 == 2 ? 0x030d : 0x030e;
	/* Closer together than in reality, so that they are found. */
	process.interpreter_modules = 8;
	process.type_cached_keys = 48;
	process.type_flags = 160;
	process.interpreters = BASE;
	return process;
}

static void check_text(const struct buf *text)
{
	if (text_utf8_prefix((const char *)text->data, text->len) != text->len)
		abort();
	for (size_t i = 0; i < text->len; i++)
		if ((text->data[i] < ' ' && text->data[i] != '\n') || text->data[i] == 0x7f)
			abort();
}

static void show(const struct runtime_tasks *tasks)
{
	_cleanup_(task_groups_release) struct task_groups groups;
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	if (task_groups_make(tasks, &groups))
		abort();
	task_groups_text(&groups, &text);
	json_decref(task_groups_json(&groups));
	check_text(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = {.bytes = data + 1, .size = size ? size - 1 : 0};
	struct python_process process = layout_of(size ? data[0] : 0);
	struct python_objects objects = {
		.process = &process,
		.read = read_memory,
		.ctx = &memory,
		.reads_left = MAX_PYTHON_TASK_READS,
	};
	const struct python_asyncio described = {136, 128, 96, 109, 152, 24, 32};
	const struct python_asyncio asyncio =
		process.version >= PYTHON_DESCRIBES_TASKS ? described : (struct python_asyncio){0};
	struct python_awaits awaits = {.objects = &objects};
	struct runtime_tasks tasks = {0};
	struct runtime_task task = {.name = "one"};

	/* One coroutine, and what it awaits; then all of them, if any is found. */
	if (python_awaits_read(&awaits, BASE, &tasks, &task) ||
	    task.frame_count > RUNTIME_TASK_FRAMES)
		abort();
	tasks.at = calloc(1, sizeof(task));
	if (!tasks.at)
		abort();
	tasks.at[0] = task;
	tasks.count = 1;
	show(&tasks);
	runtime_tasks_release(&tasks);
	memory.reads = 0;
	objects.reads_left = MAX_PYTHON_TASK_READS;
	if (python_tasks_read(&objects, &asyncio, &tasks) || tasks.count > RUNTIME_TASKS)
		abort();
	show(&tasks);
	runtime_tasks_release(&tasks);
	return 0;
}
