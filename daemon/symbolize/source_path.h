/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opening a file that somebody else named, below somebody else's root folder, with privileges that
 * neither has: only what everybody on the host may read is opened, and no file system is asked that
 * a program of a user serves (object/mounts.h). Any thread.
 */
#pragma once

#include <stdint.h>

struct source_folder {
	const char *path;  /* of the root folder */
	uint32_t pid;      /* a process whose mounts those below it are; 0: ours */
	uint64_t until_ns; /* by clock_mono_ns(): it is given up then */
};

/* A descriptor to read `path`, absolute, in the root folder `root`; ".." and symbolic links do not
 * lead out of it. -EACCES when it, or a folder on the way, is not everybody's; -EINVAL when it is
 * no regular file, or what the kernel makes up; -EOPNOTSUPP when it, or what is on the way, is on a
 * file system of a user, or on one that is mounted nowhere; -ETIMEDOUT; -ENOENT, -ENOTDIR, -ELOOP,
 * -ENAMETOOLONG. */
int source_path_open(const struct source_folder *root, const char *path, int *ret_fd);
