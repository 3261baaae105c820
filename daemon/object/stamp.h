/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct stamp - when a file was what it is: whoever writes into it changes its stamp. No state;
 * any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stamp {
	uint64_t device, inode, size, mtime_ns, ctime_ns;
};

/* Of an open file, without waiting for its file system. Negative errno. */
int stamp_read(int fd, struct stamp *ret_stamp);
