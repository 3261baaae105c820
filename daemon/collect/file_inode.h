/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_inode - the identity of the file that a probe would be placed in. Loop thread only.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct file_inode {
	struct stat stat;
	bool overlay; /* the file is on an overlayfs */
};

int file_inode_get(int fd, struct file_inode *ret_inode); /* negative errno */
/* Whether both are the same inode: the same number on the same device. Two inodes on different
 * devices are the same only where the kernel places probes in both as one file, which it does for
 * two overlays of one lower file. */
bool file_inode_is_same(const struct file_inode *a, const struct file_inode *b);
