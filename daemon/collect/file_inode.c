/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * On a file system of their own, users can give a file any inode number, size and time, and could
 * make their file pass for the real one. So these count only on overlays, where nothing else tells
 * two files apart.
 */
#include "collect/file_inode.h"

#include <errno.h>
#include <sys/statfs.h>

enum { OVERLAYFS_MAGIC = 0x794c7630 }; /* linux/magic.h */

int file_inode_get(int fd, struct file_inode *ret_inode)
{
	struct statfs system;

	if (fstat(fd, &ret_inode->stat) || fstatfs(fd, &system))
		return -errno;
	ret_inode->overlay = system.f_type == OVERLAYFS_MAGIC;
	return 0;
}

bool file_inode_is_same(const struct file_inode *a, const struct file_inode *b)
{
	const struct stat *one = &a->stat, *other = &b->stat;

	if (one->st_ino != other->st_ino)
		return false;
	if (one->st_dev == other->st_dev)
		return true;
	return a->overlay && b->overlay && one->st_size == other->st_size &&
	       one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
	       one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}
