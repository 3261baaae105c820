/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Both ends. The daemon trusts an answer about where probes go as it would trust the file's notes,
 * which say the same without any proof.
 */
#include "probes/usdt_ask.h"

#include <errno.h>
#include <string.h>

int usdt_answer(struct reading *reading, struct buf *out)
{
	_cleanup_free_ struct usdt_file *file = NULL;
	_cleanup_(elf_freep) struct elf *elf = NULL;

	if (reading->len || reading->fds[0] < 0)
		return -EPROTO;
	int err = elf_open_fd(reading->fds[0], &elf);
	if (err)
		return err;
	file = usdt_file_read(elf);
	if (!file || !file->count)
		return -ENOENT;
	buf_add(out, file, sizeof(*file));
	return buf_error(out);
}

static bool is_arg(const struct static_arg *arg)
{
	return arg->place <= STATIC_MEMORY && arg->bytes <= sizeof(uint64_t) && arg->is_signed <= 1;
}

int usdt_check(const uint8_t *bytes, size_t len)
{
	struct usdt_file file;

	if (len != sizeof(file))
		return -EBADMSG;
	memcpy(&file, bytes, sizeof(file));
	if (!file.count || file.count > MAX_USDT_SITES)
		return -EBADMSG;
	for (size_t i = 0; i < file.count; i++) {
		if (file.sites[i].probe >= STATIC_PROBE_COUNT)
			return -EBADMSG;
		for (int j = 0; j < STATIC_ARGS; j++) {
			if (!is_arg(&file.sites[i].site.args[j]))
				return -EBADMSG;
		}
	}
	return 0;
}

static int check(const uint8_t *bytes, size_t len, void *ctx)
{
	(void)ctx;
	return usdt_check(bytes, len);
}

int usdt_ask(struct reader *reader, int fd, uint64_t number, struct usdt_file *ret_file)
{
	const struct reader_query query = {
		.question = {.job = READER_USDT, .fds = {fd, -1, -1}},
		.file = number,
		.check = check,
	};

	return reader_ask_fixed(reader, &query, ret_file, sizeof(*ret_file));
}
