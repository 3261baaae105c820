/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_file.h"

#include "base/buf.h"
#include "base/clock.h"
#include "object/reach.h"
#include "proc/owner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STATUS_BYTES = 16384 };

/* The last one of "NSpid:\t123\t7". */
int jit_own_number(uint32_t pid, uint64_t *ret_number)
{
	static const char key[] = "\nNSpid:";
	_cleanup_(buf_release) struct buf status = BUF_INIT;
	struct text text, line, word;
	char path[32];
	int err = -ENOENT;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	text = buf_read_text(&status, path, MAX_STATUS_BYTES);
	text.at = text.at < text.end
	                  ? memmem(text.at, (size_t)(text.end - text.at), key, sizeof(key) - 1)
	                  : NULL;
	if (!text.at)
		return err;
	text.at += sizeof(key) - 1;
	if (!text_line(&text, &line))
		return err;
	while (text_word(&line, &word))
		err = text_decimal(&word, ret_number) ? 0 : -ENOENT;
	return err;
}

/* A process that has the pid now may have begun after the program. Its start is told in ticks. */
bool jit_where_is(const struct jit_where *where)
{
	uint64_t process_ns = reach_began_boot_ns(where->pid), now_ns = clock_boot_ns();
	uint64_t program_ago_ns = clock_mono_ns() - where->began_ns;

	if (process_ns > now_ns)
		return false;
	return !where->began_ns || now_ns - process_ns + JIT_SLACK_NS >= program_ago_ns;
}

bool jit_file_is_of(const struct stat *status, uint32_t pid)
{
	return status->st_uid == owner_read_sole(pid);
}

bool jit_file_is(const struct jit_file *file, const struct stat *status)
{
	return file->fd >= 0 && file->device == status->st_dev && file->inode == status->st_ino;
}

void jit_file_take(struct jit_file *file, int fd, const struct stat *status, uint64_t offset)
{
	jit_file_close(file);
	if (file->device != status->st_dev || file->inode != status->st_ino)
		*file = (struct jit_file){
			.device = status->st_dev,
			.inode = status->st_ino,
			.offset = offset,
		};
	file->fd = fd;
}

void jit_file_close(struct jit_file *file)
{
	closep(&file->fd);
	file->fd = -1;
}
