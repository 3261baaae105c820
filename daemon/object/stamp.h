/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct stamp - identifies a version of a file: a write to the file changes its stamp. No state;
 * any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stamp {
	uint64_t device, inode, size, mtime_ns, ctime_ns;
};

/* Reads the stamp of an open file, without waiting for its file system. Negative errno. */
int stamp_read(int fd, struct stamp *ret_stamp);
