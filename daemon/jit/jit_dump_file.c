/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_dump_file.h"

#include "base/text.h"
#include "jit/jit_dump.h"
#include "object/reach.h"

#include <errno.h>
#include <string.h>

bool jit_dump_file_is(const char *path, uint64_t *ret_number)
{
	static const char begin[] = "/jit-", end[] = ".dump";
	const char *slash = strrchr(path, '/');
	char name[MAX_PATH_BYTES];
	struct text rest;

	if (!slash || strncmp(slash, begin, strlen(begin)) != 0)
		return false;
	reach_path(slash + strlen(begin), name);
	rest = text_of(name, strlen(name));
	return text_decimal(&rest, ret_number) && text_equals(rest, end);
}

int jit_dump_file_open(struct jit_file *file, const struct jit_where *where)
{
	_cleanup_close_ int fd = -1;
	uint8_t header[64];
	struct stat status;
	ssize_t len;
	size_t offset;

	/* A child has the file of its parent mapped, which tells of the parent's code. */
	if (!where->dump_end || where->number != where->dump_number)
		return -ENOENT;
	fd = reach_mapped(where->pid, where->dump_start, where->dump_end, &status);
	if (fd < 0)
		return fd;
	if (!jit_file_is_of(&status, where->pid))
		return -EACCES;
	if (jit_file_is(file, &status))
		return 0;
	len = pread(fd, header, sizeof(header), 0);
	offset = len > 0 ? jit_dump_header(header, (size_t)len) : 0;
	if (!offset)
		return len < 0 ? -errno : -EBADMSG;
	jit_file_take(file, TAKE_FD(fd), &status, offset);
	return 0;
}

ssize_t jit_dump_file_read(struct jit_file *file, struct jit_codes *told)
{
	_cleanup_free_ uint8_t *bytes = malloc(JIT_READ_BYTES);
	uint64_t next;
	ssize_t len;
	int err;

	if (!bytes)
		return -ENOMEM;
	/* It was damaged further up. */
	if (file->offset == INT64_MAX)
		return 0;
	len = pread(file->fd, bytes, JIT_READ_BYTES, (off_t)file->offset);
	if (len < 0)
		return -errno;
	err = jit_dump_read(bytes, (size_t)len, len == JIT_READ_BYTES, &file->has_low_rows, told,
	                    &next);
	file->offset = err == -EBADMSG ? INT64_MAX : file->offset + next;
	return err == -EBADMSG ? 0 : err ?: len;
}
