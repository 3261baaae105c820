/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_file.h"

#include "proc/owner.h"

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
	*file = (struct jit_file){
		.fd = fd,
		.device = status->st_dev,
		.inode = status->st_ino,
		.offset = offset,
	};
}

void jit_file_close(struct jit_file *file)
{
	closep(&file->fd);
	*file = JIT_FILE_CLOSED;
}
