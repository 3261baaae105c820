/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_inode - the identity of the file that a probe would be placed in.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct file_inode {
	struct stat stat;
	bool overlay; /* the file is on an overlayfs */
	/* Only root can write it, and a path from the daemon's root folder leads to it, past no
	 * file system of a user. So no user has brought it. */
	bool is_installed;
};

/* `path` is that of the file, as a process sees it. Any thread; waits for the file system of the
 * file. 0 or a negative errno. */
int file_inode_get(int fd, const char *path, struct file_inode *ret_inode);
/* Whether both are the same inode: the same number on the same device. Two inodes on different
 * devices are the same only where the kernel places probes in both as one file, which it does for
 * two overlays of one lower file. */
bool file_inode_is_same(const struct file_inode *a, const struct file_inode *b);
/*
 * Whether the file may be probed because a process of that account maps it.
 *
 * To put a probe into a file, or to take it out, the kernel goes through all mappings of the file
 * in all processes (register_for_each_vma() in kernel/events/uprobes.c). It waits for the lock of
 * each process's memory map, and no process of the host can fork meanwhile. Any user can map a file
 * a million times, and can hold that lock, by a read from a FUSE file system that does not answer.
 * So the file must be one that no user can choose.
 */
bool file_inode_may_be_probed(const struct file_inode *inode, uint32_t account);
