/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Both ends. A file is trusted about where its functions are, and about nothing else: what a probe
 * does there comes from the daemon's own list.
 */
#include "cuda/gpu_ask.h"

#include <errno.h>
#include <string.h>

int gpu_answer(struct reading *reading, struct buf *out)
{
	_cleanup_free_ struct gpu_file *file = NULL;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	uint32_t libraries;

	if (reading->len != sizeof(libraries) || reading->fds[0] < 0)
		return -EPROTO;
	memcpy(&libraries, reading->bytes, sizeof(libraries));
	file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	int err = elf_open_fd(reading->fds[0], &elf);
	if (!err)
		err = gpu_sites_find(elf, libraries, file);
	if (err)
		return err;
	buf_add(out, file, sizeof(*file));
	return buf_error(out);
}

static int check(const uint8_t *bytes, size_t len, void *ctx)
{
	return gpu_sites_check(bytes, len, *(const uint32_t *)ctx);
}

int gpu_ask(struct reader *reader, int fd, uint64_t number, uint32_t libraries,
            struct gpu_file *ret_file)
{
	const struct reader_query query = {
		.question = {.job = READER_GPU,
	                     .fds = {fd, -1, -1},
	                     .pieces = {{&libraries, sizeof(libraries)}}},
		.file = number,
		.check = check,
		.ctx = &libraries,
	};
	struct reader_reply reply;
	int err = reader_ask(reader, &query, &reply);

	if (err < 0)
		return err;
	memcpy(ret_file, reply.bytes, sizeof(*ret_file));
	free(reply.bytes);
	return 0;
}
