/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_inode - which file it is that a probe would be in. Loop thread only.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct gpu_inode {
	struct stat stat;
	bool overlay; /* is on an overlayfs */
};

int gpu_inode_get(int fd, struct gpu_inode *ret_inode); /* negative errno */
/* The same inode: of one device; of other devices only where the kernel probes both as one, which
 * it does with two overlays of one lower file. */
bool gpu_inode_is_same(const struct gpu_inode *a, const struct gpu_inode *b);
