/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The side that asks, in the daemon, and the side that answers, in the reader process. The walker
 * bounds whatever offsets it is given. An answer must pass the same check as a file's own
 * description.
 */
#include "python/python_ask.h"

#include "python/python_build.h"

#include <errno.h>
#include <string.h>

int python_answer(struct reading *reading, struct buf *out)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct python_process process;

	if (reading->len || reading->fds[0] < 0)
		return -EPROTO;
	int err = elf_open_fd(reading->fds[0], &elf);
	if (!err)
		err = python_build_read(elf, &process);
	if (err)
		return err;
	buf_add(out, &process, sizeof(process));
	return buf_error(out);
}

int python_check(const uint8_t *bytes, size_t len)
{
	struct python_process process;

	if (len != sizeof(process))
		return -EBADMSG;
	memcpy(&process, bytes, sizeof(process));
	return python_build_is_sound(&process) ? 0 : -EBADMSG;
}

static int check(const uint8_t *bytes, size_t len, void *ctx)
{
	(void)ctx;
	return python_check(bytes, len);
}

int python_ask(struct reader *reader, const struct object *object,
               struct python_process *ret_process)
{
	const struct reader_query query = {
		.question = {.job = READER_PYTHON, .fds = {object->fd, -1, -1}},
		.file = object->id,
		.check = check,
	};

	return reader_ask_fixed(reader, &query, ret_process, sizeof(*ret_process));
}
