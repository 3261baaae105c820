/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The offsets are those of python/python_layouts.c and, for 3.13, those that its table of offsets
 * gives.
 */
#include "tests/unit/python_memory.h"

#include "python/python_layouts.h"
#include "cpython/python_names.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_3_11 = 0x030b, VERSION_3_12, VERSION_3_13, INSTANCE_BYTES = 64, EARLIER = 3 };
enum { INLINE_VALUES = 1 << 2, MANAGED_DICT = 1 << 4, HEAP_TYPE = 1 << 9 };

static struct python_process described(bool free_threaded)
{
	uint16_t more = free_threaded ? 16 : 0;

	return (struct python_process){
		.version = VERSION_3_13,
		.free_threaded = free_threaded,
		.kind_shift = 2,
		.ascii_shift = 6,
		.interpreter_modules = 7656,
		.interpreter_next = 7264,
		.object_type = 8 + more,
		.type_flags = 168 + more,
		.type_cached_keys = 880 + more,
		.dict_keys = 32 + more,
		.dict_values = 40 + more,
		.text_length = 16 + more,
		.text_state = 32 + more,
		.text_ascii = 40 + more,
		.text_compact = 56 + more,
	};
}

static int read_memory(void *ctx, uint64_t address, void *into, size_t len)
{
	struct python_memory *memory = ctx;
	uint64_t at = address - PYTHON_MEMORY;

	memory->reads++;
	if (at >= PYTHON_MEMORY_BYTES || len > PYTHON_MEMORY_BYTES - at)
		return -EFAULT;
	memcpy(into, memory->bytes + at, len);
	return 0;
}

struct python_objects python_memory_objects(struct python_memory *memory)
{
	return (struct python_objects){
		.process = &memory->process,
		.read = read_memory,
		.ctx = memory,
		.reads_left = MAX_PYTHON_NAME_READS,
	};
}

uint64_t python_memory_take(struct python_memory *memory, size_t bytes)
{
	uint64_t address = PYTHON_MEMORY + memory->used;

	memory->used += (bytes + 7) & ~7UL;
	ck_assert_uint_le(memory->used, PYTHON_MEMORY_BYTES);
	return address;
}

void python_memory_put(struct python_memory *memory, uint64_t address, uint64_t word)
{
	uint64_t at = address - PYTHON_MEMORY;

	ck_assert_uint_le(at, PYTHON_MEMORY_BYTES - sizeof(word));
	memcpy(memory->bytes + at, &word, sizeof(word));
}

uint64_t python_memory_text(struct python_memory *memory, unsigned int width,
                            const void *characters, size_t length)
{
	const struct python_process *process = &memory->process;
	uint32_t ascii = !width, kind = width ? width : 1;
	size_t head = ascii ? process->text_ascii : process->text_compact;
	uint64_t text = python_memory_take(memory, head + length * kind);

	python_memory_put(memory, text + process->text_length, length);
	python_memory_put(memory, text + process->text_state,
	                  kind << process->kind_shift | 1U << (process->ascii_shift - 1) |
	                          ascii << process->ascii_shift);
	memcpy(memory->bytes + (text + head - PYTHON_MEMORY), characters, length * kind);
	return text;
}

uint64_t python_memory_ascii(struct python_memory *memory, const char *text)
{
	return python_memory_text(memory, 0, text, strlen(text));
}

/* Puts a table for `count` keys. Also returns where its entries begin, and the number of words in
 * each. */
static uint64_t put_keys(struct python_memory *memory, size_t count, bool ints,
                         uint64_t *ret_entries, size_t *ret_words)
{
	bool old = memory->process.version < VERSION_3_11;
	size_t words = old || ints ? 3 : 2, log = 3;

	while (count * 3 / 2 > 1UL << log)
		log++;
	size_t width = log < 8 ? 1 : 2, head = old ? 40 : 32, indices = width << log;
	uint64_t keys = python_memory_take(memory, head + indices + count * words * 8);

	if (old) {
		python_memory_put(memory, keys + 8, 1UL << log);
		python_memory_put(memory, keys + 32, count);
	} else {
		python_memory_put(memory, keys + 8,
		                  log | (log + width - 1) << 8 | (ints ? 0UL : 1UL) << 16);
		python_memory_put(memory, keys + 24, count);
	}
	*ret_entries = keys + head + indices;
	*ret_words = words;
	return keys;
}

static uint64_t put_dict(struct python_memory *memory, uint64_t keys, uint64_t values)
{
	uint64_t dict = python_memory_take(memory, memory->process.dict_values + 8);

	python_memory_put(memory, dict + memory->process.dict_keys, keys);
	python_memory_put(memory, dict + memory->process.dict_values, values);
	return dict;
}

uint64_t python_memory_dict(struct python_memory *memory, const uint64_t (*entries)[2],
                            size_t count, bool ints)
{
	uint64_t at, keys;
	size_t words;

	keys = put_keys(memory, count, ints, &at, &words);
	for (size_t i = 0; i < count; i++, at += words * 8) {
		if (words == 3)
			python_memory_put(memory, at, ints ? entries[i][0] : 0x1234);
		/* A key that is an int is an object that is not read. */
		python_memory_put(memory, at + (words - 2) * 8,
		                  ints ? PYTHON_MEMORY : entries[i][0]);
		python_memory_put(memory, at + (words - 1) * 8, entries[i][1]);
	}
	return put_dict(memory, keys, 0);
}

/* Puts an array of values for the shared keys: the name, after the values of EARLIER other
 * attributes. */
static void put_values(struct python_memory *memory, uint64_t values, uint64_t name)
{
	bool has_head = memory->process.version >= VERSION_3_13;

	if (has_head)
		python_memory_put(memory, values, (EARLIER + 1) | 1U << 24);
	python_memory_put(memory, values + (has_head ? 8 : 0) + EARLIER * 8UL, name);
}

static uint64_t put_own_dict(struct python_memory *memory, uint64_t name)
{
	const uint64_t entries[][2] = {
		{python_memory_ascii(memory, "_target"), PYTHON_MEMORY},
		{python_memory_ascii(memory, "_names"), PYTHON_MEMORY},
		{python_memory_ascii(memory, "_name"), name},
	};

	return python_memory_dict(memory, entries, 3, false);
}

static void set_managed(struct python_memory *memory, uint64_t thread,
                        enum python_instance instance, uint64_t dict, uint64_t values)
{
	const struct python_process *process = &memory->process;
	bool shared = instance == INSTANCE_SHARED;
	uint64_t at = thread - (process->free_threaded ? 8 : 24);

	if (!shared)
		python_memory_put(memory, at, dict);
	else if (process->version == VERSION_3_11)
		python_memory_put(memory, thread - 32, values);
	else if (process->version == VERSION_3_12)
		python_memory_put(memory, at, values - 1);
}

uint64_t python_memory_thread(struct python_memory *memory, enum python_instance instance,
                              uint64_t name)
{
	const struct python_process *process = &memory->process;
	uint64_t thread = python_memory_take(memory, 32 + INSTANCE_BYTES + 64) + 32;
	uint64_t values = process->version >= VERSION_3_13 ? thread + INSTANCE_BYTES
	                                                   : python_memory_take(memory, 64);
	uint64_t dict = instance == INSTANCE_OWN_DICT ? put_own_dict(memory, name)
	                                              : put_dict(memory, memory->keys, values);

	put_values(memory, values, name);
	python_memory_put(memory, thread + process->object_type, memory->type);
	if (process->version >= VERSION_3_11)
		set_managed(memory, thread, instance, dict, values);
	else
		python_memory_put(memory, thread + 16, dict);
	return thread;
}

static void put_type(struct python_memory *memory)
{
	const struct python_process *process = &memory->process;
	uint64_t flags = HEAP_TYPE, entries;
	size_t words;

	if (process->version >= VERSION_3_11)
		flags |= MANAGED_DICT;
	if (process->version >= VERSION_3_13)
		flags |= INLINE_VALUES;
	memory->keys = put_keys(memory, EARLIER + 1, false, &entries, &words);
	for (size_t i = 0; i <= EARLIER; i++)
		python_memory_put(memory, entries + (i * words + words - 2) * 8,
		                  python_memory_ascii(memory, i < EARLIER ? "daemonic" : "_name"));
	memory->type = python_memory_take(memory, process->type_cached_keys + 8);
	python_memory_put(memory, memory->type + process->type_flags, flags);
	python_memory_put(memory, memory->type + process->type_flags - 136, INSTANCE_BYTES);
	python_memory_put(memory, memory->type + process->type_flags + 120, 16);
	python_memory_put(memory, memory->type + process->type_cached_keys, memory->keys);
}

void python_memory_interpreter(struct python_memory *memory, const uint64_t (*threads)[2],
                               size_t count)
{
	const struct python_process *process = &memory->process;
	uint64_t interpreter = python_memory_take(memory, 8192), last;
	uint64_t module = python_memory_take(memory, process->object_type + 16);
	uint64_t active = python_memory_dict(memory, threads, count, true);
	const uint64_t variables[][2] = {
		{python_memory_ascii(memory, "_limbo"), active + 8},
		{python_memory_ascii(memory, "_active"), active},
	};
	const uint64_t modules[][2] = {
		{python_memory_ascii(memory, "sys"), PYTHON_MEMORY},
		{python_memory_ascii(memory, "threadinG"), PYTHON_MEMORY},
		{python_memory_ascii(memory, "threading"), module},
	};

	python_memory_put(memory, module + process->object_type + 8,
	                  python_memory_dict(memory, variables, 2, false));
	python_memory_put(memory, interpreter + process->interpreter_modules,
	                  python_memory_dict(memory, modules, 3, false));
	memcpy(&last, memory->bytes + (process->interpreters - PYTHON_MEMORY), sizeof(last));
	python_memory_put(memory, interpreter + process->interpreter_next, last);
	python_memory_put(memory, process->interpreters, interpreter);
}

struct python_memory *python_memory_new(size_t layout)
{
	struct python_memory *memory = calloc(1, sizeof(*memory));

	ck_assert_ptr_nonnull(memory);
	memory->process =
		layout < 5 ? *python_layout(0x0308 + (uint32_t)layout) : described(layout == 6);
	memory->process.interpreters = python_memory_take(memory, 64);
	put_type(memory);
	return memory;
}
