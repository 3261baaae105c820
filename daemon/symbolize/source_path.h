/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opening a file that somebody else named, below somebody else's root folder, with privileges that
 * neither has: only what everybody on the host may read is opened. Any thread.
 */
#pragma once

/* A descriptor to read `path`, absolute, in the root folder `root`; ".." and symbolic links do not
 * lead out of it. -EACCES when it, or a folder on the way, is not everybody's; -EINVAL when it is
 * no regular file, or one that the kernel makes up; -ENOENT, -ENOTDIR, -ELOOP, -ENAMETOOLONG. */
int source_path_open(const char *root, const char *path, int *ret_fd);
