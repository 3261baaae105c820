/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file whose open() hangs, as on a file system whose server is gone.
 */
#pragma once

#include "base/cleanup.h"

#include <check.h>
#include <fcntl.h>
#include <sys/fanotify.h>

/* Returns a descriptor that, until it is closed, lets the file be opened by nobody; -1 without root
 * or fanotify. */
static inline int hang_opens_of(const char *path)
{
	_cleanup_close_ int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);

	if (fd < 0)
		return -1;
	if (fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, path))
		return -1;
	return TAKE_FD(fd);
}
