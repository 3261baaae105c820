/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_inode - which file it is that a probe would be in. Loop thread only.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct file_inode {
	struct stat stat;
	bool overlay; /* is on an overlayfs */
};

int file_inode_get(int fd, struct file_inode *ret_inode); /* negative errno */
/* The same inode: of one device; of other devices only where the kernel probes both as one, which
 * it does with two overlays of one lower file. */
bool file_inode_is_same(const struct file_inode *a, const struct file_inode *b);
