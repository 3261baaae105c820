/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "python/python_asyncio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The description is an array of 64-bit words, a group for each structure with its size first. */
enum word {
	TASK_SIZE,
	TASK_NAME,
	TASK_AWAITED_BY,
	TASK_IS_TASK,
	TASK_AWAITED_BY_IS_SET,
	TASK_CORO,
	TASK_NODE,
	INTERPRETER_SIZE,
	INTERPRETER_TASKS,
	THREAD_SIZE,
	THREAD_LOOP,
	THREAD_TASK,
	THREAD_TASKS,
	WORDS
};

enum {
	MAX_SECTION = 4096,
	MAX_INTERPRETER = 16 << 20, /* 3.14: 225,864 */
	WORD = sizeof(uint64_t),
	NODE = 2 * WORD, /* struct llist_node */
};

/* Whether a field of so many bytes is in the structure, whose size is bounded. */
static bool is_in(const uint64_t *words, enum word field, enum word size, uint64_t most,
                  uint64_t bytes)
{
	return words[size] <= most && words[size] >= bytes && words[field] <= words[size] - bytes;
}

static bool makes_sense(const uint64_t *words)
{
	return is_in(words, TASK_NAME, TASK_SIZE, UINT16_MAX, WORD) &&
	       is_in(words, TASK_AWAITED_BY, TASK_SIZE, UINT16_MAX, 2 * WORD) &&
	       is_in(words, TASK_AWAITED_BY_IS_SET, TASK_SIZE, UINT16_MAX, 1) &&
	       is_in(words, TASK_CORO, TASK_SIZE, UINT16_MAX, WORD) &&
	       is_in(words, TASK_NODE, TASK_SIZE, UINT16_MAX, NODE) &&
	       is_in(words, INTERPRETER_TASKS, INTERPRETER_SIZE, MAX_INTERPRETER, NODE) &&
	       is_in(words, THREAD_TASKS, THREAD_SIZE, UINT16_MAX, NODE);
}

bool python_asyncio_is_sound(const struct python_asyncio *asyncio)
{
	return asyncio->task_name && asyncio->task_coroutine > WORD && asyncio->task_awaited_by &&
	       asyncio->task_awaited_by <= UINT16_MAX - WORD && asyncio->task_awaited_by_set &&
	       asyncio->task_node && asyncio->thread_tasks && asyncio->interpreter_tasks &&
	       asyncio->interpreter_tasks <= MAX_INTERPRETER;
}

int python_asyncio_read(const struct elf *elf, struct python_asyncio *ret_asyncio)
{
	uint64_t words[WORDS];
	struct elf_section section;
	int err = elf_read_section(elf, ".AsyncioDebug", MAX_SECTION, &section);

	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	err = section.len < sizeof(words) ? -EBADMSG : 0;
	if (!err)
		memcpy(words, section.bytes, sizeof(words));
	free(section.bytes);
	if (err || !makes_sense(words))
		return -EBADMSG;
	const struct python_asyncio asyncio = {
		.task_name = (uint16_t)words[TASK_NAME],
		.task_coroutine = (uint16_t)words[TASK_CORO],
		.task_awaited_by = (uint16_t)words[TASK_AWAITED_BY],
		.task_awaited_by_set = (uint16_t)words[TASK_AWAITED_BY_IS_SET],
		.task_node = (uint16_t)words[TASK_NODE],
		.thread_tasks = (uint16_t)words[THREAD_TASKS],
		.interpreter_tasks = (uint32_t)words[INTERPRETER_TASKS],
	};
	if (!python_asyncio_is_sound(&asyncio))
		return -EBADMSG;
	*ret_asyncio = asyncio;
	return 0;
}
