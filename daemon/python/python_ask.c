/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The side that asks, in the daemon, and the side that answers, in the reader process. The walker
 * bounds whatever offsets it is given. An answer must pass the same check as a file's own
 * description.
 */
#include "python/python_ask.h"

#include "python/python_asyncio.h"
#include "python/python_build.h"

#include <errno.h>
#include <string.h>

int python_answer(struct reading *reading, struct buf *out)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct python_contents contents = {0};

	if (reading->len || reading->fds[0] < 0)
		return -EPROTO;
	int err = elf_open_fd(reading->fds[0], &elf);
	if (!err)
		err = python_build_read(elf, &contents.process);
	if (!err)
		err = python_asyncio_read(elf, &contents.asyncio) == -ENOMEM ? -ENOMEM : 0;
	else if (err == -ENOENT)
		err = python_asyncio_read(elf, &contents.asyncio);
	if (err)
		return err;
	buf_add(out, &contents, sizeof(contents));
	return buf_error(out);
}

int python_check(const uint8_t *bytes, size_t len)
{
	struct python_contents contents;
	bool has_python, has_asyncio;

	if (len != sizeof(contents))
		return -EBADMSG;
	memcpy(&contents, bytes, sizeof(contents));
	has_python = contents.process.version;
	has_asyncio = contents.asyncio.task_node;
	if ((has_python && !python_build_is_sound(&contents.process)) ||
	    (has_asyncio && !python_asyncio_is_sound(&contents.asyncio)))
		return -EBADMSG;
	return has_python || has_asyncio ? 0 : -EBADMSG;
}

static int check(const uint8_t *bytes, size_t len, void *ctx)
{
	(void)ctx;
	return python_check(bytes, len);
}

int python_ask(struct reader *reader, const struct object *object,
               struct python_contents *ret_contents)
{
	const struct reader_query query = {
		.question = {.job = READER_PYTHON, .fds = {object->fd, -1, -1}},
		.file = object->id,
		.check = check,
	};

	return reader_ask_fixed(reader, &query, ret_contents, sizeof(*ret_contents));
}
