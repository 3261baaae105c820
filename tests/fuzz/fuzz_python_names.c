/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the memory of a program that runs CPython, in any layout: reading the names of its
 * threads ends, and the names can be shown.
 */
#include "base/text.h"
#include "python/python_layouts.h"
#include "cpython/python_names.h"

#include <stdlib.h>
#include <string.h>

enum { BASE = 0x10000, MAX_TEXT = 4 * MAX_PYTHON_THREAD_NAME + 3, NAMES = 4 };

struct memory {
	const uint8_t *bytes;
	size_t size;
	uint32_t reads;
};

/* Addresses wrap around, so that most of them lead somewhere. */
static int read_memory(void *ctx, uint64_t address, void *into, size_t len)
{
	struct memory *memory = ctx;
	uint8_t *to = into;

	if (++memory->reads > MAX_PYTHON_NAME_READS)
		abort();
	if (!memory->size || address % 64 == 63)
		return -1;
	for (size_t i = 0; i < len; i++)
		to[i] = memory->bytes[(address - BASE + i) % memory->size];
	return 0;
}

static struct python_process layout_of(uint8_t which)
{
	struct python_process process = {0};

	if (which % 7 < 5)
		process = *python_layout(0x0308 + which % 7);
	else
		process = *python_layout(0x030c);
	if (which % 7 >= 5)
		process.version = 0x030d;
	process.free_threaded = which % 7 == 6;
	/* Closer together than in reality, so that they are found. */
	process.interpreter_modules = 8;
	process.type_cached_keys = 48;
	process.type_flags = 160;
	process.interpreters = BASE;
	return process;
}

static void check_text(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > MAX_TEXT || text_utf8_prefix(text, len) != len)
		abort();
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = {.bytes = data + 1, .size = size ? size - 1 : 0};
	struct python_process process = layout_of(size ? data[0] : 0);
	struct python_dicts dicts = {0};

	/* In the second round the places are known. */
	for (int i = 0; i < 2; i++) {
		struct python_name names[NAMES] = {{.ident = 1}, {.ident = 2}, {.ident = 0x100000}};
		struct python_objects objects = {
			.process = &process,
			.read = read_memory,
			.ctx = &memory,
			.reads_left = MAX_PYTHON_NAME_READS,
		};

		names[3].ident = 0x7f0000000000;
		memory.reads = 0;
		if (python_names_read(&objects, &dicts, names, NAMES) > NAMES)
			abort();
		for (int at = 0; at < NAMES; at++) {
			if (names[at].text)
				check_text(names[at].text);
			free(names[at].text);
		}
	}
	return 0;
}
