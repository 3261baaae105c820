/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * On a file system of their own, users can give a file any inode number, size and time, and could
 * make their file pass for the real one. So equal values prove that files are the same only on
 * overlays, where nothing else tells two files apart.
 */
#include "probes/file_inode.h"

#include "base/accounts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "object/path.h"

#include <errno.h>
#include <sys/statfs.h>

enum { OVERLAYFS_MAGIC = 0x794c7630 }; /* linux/magic.h */

static bool is_installed(const struct stat *stat, const char *path)
{
	const struct path_root root = {.path = "/", .until_ns = clock_mono_ns() + NSEC_PER_SEC};
	_cleanup_close_ int fd = -1;
	struct stat found;

	return stat->st_uid == 0 && !(stat->st_mode & (S_IWGRP | S_IWOTH)) &&
	       !path_open(&root, path, &fd) && !fstat(fd, &found) && found.st_dev == stat->st_dev &&
	       found.st_ino == stat->st_ino;
}

int file_inode_get(int fd, const char *path, struct file_inode *ret_inode)
{
	struct statfs system;

	if (fstat(fd, &ret_inode->stat) || fstatfs(fd, &system))
		return -errno;
	ret_inode->overlay = system.f_type == OVERLAYFS_MAGIC;
	ret_inode->is_installed = is_installed(&ret_inode->stat, path);
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

bool file_inode_may_be_probed(const struct file_inode *inode, uint32_t account)
{
	return inode->is_installed || account_is_trusted(account);
}
