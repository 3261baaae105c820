/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opening a file that a user named, below that user's or the host's root folder, with privileges
 * that the user lacks: no file system that a user's program serves is asked anything
 * (object/mounts.h), and only files that everybody may read are opened, unless the caller asks for
 * others, too (is_for_daemon). Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct path_root {
	const char *path;   /* of the root folder */
	uint32_t pid;       /* a process whose mounts those below it are; 0: ours */
	uint64_t until_ns;  /* by clock_mono_ns(): it is given up then */
	bool is_for_daemon; /* also files and folders that not everybody may read */
	bool is_no_link;    /* the last part must not be a symbolic link: -ELOOP */
};

/* A descriptor to read `path`, absolute, in the root folder `root`; ".." and symbolic links do not
 * lead out of it. -EACCES when it, or a folder on the way, is not everybody's; -EINVAL when it is
 * no regular file, or what the kernel makes up; -EOPNOTSUPP when it, or what is on the way, is on a
 * file system of a user, or on one that is mounted nowhere; -ETIMEDOUT; -ENOENT, -ENOTDIR, -ELOOP,
 * -ENAMETOOLONG. */
int path_open(const struct path_root *root, const char *path, int *ret_fd);
