/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_dump_file.h"

#include "jit/jit_dump.h"
#include "object/reach.h"

#include <errno.h>
#include <string.h>

bool jit_dump_file_is(const char *path)
{
	static const char begin[] = "/jit-", end[] = ".dump";
	const char *slash = strrchr(path, '/');
	char name[MAX_PATH_BYTES];
	size_t digits;

	if (!slash || strncmp(slash, begin, strlen(begin)) != 0)
		return false;
	reach_path(slash + strlen(begin), name);
	digits = strspn(name, "0123456789");
	return digits && !strcmp(name + digits, end);
}

int jit_dump_file_open(struct jit_file *file, const struct jit_where *where)
{
	_cleanup_close_ int fd = -1;
	uint8_t header[64];
	struct stat status;
	ssize_t len;
	size_t offset;

	if (!where->dump_end)
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
	ssize_t len = bytes ? pread(file->fd, bytes, JIT_READ_BYTES, (off_t)file->offset) : -1;
	bool is_full = len == JIT_READ_BYTES;
	uint64_t next;
	int err;

	if (len < 0)
		return bytes ? -errno : -ENOMEM;
	err = jit_dump_read(bytes, (size_t)len, is_full, told, &next);
	/* Nothing more is read of a file that is none. */
	file->offset = err == -EBADMSG ? INT64_MAX : file->offset + next;
	return err ?: len;
}
