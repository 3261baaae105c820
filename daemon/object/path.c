/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The walk goes from folder to folder by descriptors, so that the checked file is the one that is
 * used. It follows symbolic links itself. For ".." it returns to the folder through which it came
 * and does not ask the file system, so a folder that is moved meanwhile does not lead it elsewhere.
 */
#include "object/path.h"

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "object/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { MAX_FOLDERS = 128, MAX_LINKS = 40 };

struct walk {
	const struct path_root *root;
	uint64_t mount;           /* the last one that was checked and accepted; 0: none */
	int folders[MAX_FOLDERS]; /* from the root downwards */
	size_t depth;             /* at least 1: the root */
	char rest[MAX_PATH_BYTES];
	const char *at; /* points into `rest` */
	int links;
};

static void walk_release(struct walk *walk)
{
	while (walk->depth)
		close(walk->folders[--walk->depth]);
}

static bool has_all(mode_t mode, mode_t bits)
{
	return (mode & bits) == bits;
}

/* Takes ownership of the descriptor. */
static int enter(struct walk *walk, int fd, mode_t mode)
{
	_cleanup_close_ int folder = fd;

	if (!walk->root->is_for_daemon && !has_all(mode, S_IXUSR | S_IXGRP | S_IXOTH))
		return -EACCES;
	if (walk->depth == MAX_FOLDERS)
		return -ENAMETOOLONG;
	walk->folders[walk->depth++] = TAKE_FD(folder);
	return 0;
}

static void leave_to(struct walk *walk, size_t depth)
{
	while (walk->depth > depth)
		close(walk->folders[--walk->depth]);
}

/* Whether the kernel generates the contents when they are read. Such contents depend on the reader,
 * whatever the mode says. */
static bool is_made_up(int fd)
{
	static const unsigned long kinds[] = {
		PROC_SUPER_MAGIC,   SYSFS_MAGIC,        DEBUGFS_MAGIC,  TRACEFS_MAGIC,
		SECURITYFS_MAGIC,   CGROUP_SUPER_MAGIC, SELINUX_MAGIC,  CGROUP2_SUPER_MAGIC,
		BPF_FS_MAGIC,       PSTOREFS_MAGIC,     EFIVARFS_MAGIC, SMACK_MAGIC,
		DEVPTS_SUPER_MAGIC, BINFMTFS_MAGIC,     NSFS_MAGIC,
	};
	struct statfs status;

	if (fstatfs(fd, &status))
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((unsigned long)status.f_type == kinds[i])
			return true;
	return false;
}

/* Whether the walk may look up names in the file or read it. */
static int check_mount(struct walk *walk, int fd)
{
	struct statx known;
	int err;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &known))
		return -errno;
	if (walk->mount && known.stx_mask & STATX_MNT_ID && known.stx_mnt_id == walk->mount)
		return 0;
	err = mounts_check_ask(fd, walk->root->pid);
	if (err)
		return err;
	if (is_made_up(fd))
		return -EINVAL;
	walk->mount = known.stx_mask & STATX_MNT_ID ? known.stx_mnt_id : 0;
	return 0;
}

static int look_at(struct walk *walk, int fd, struct stat *ret_stat)
{
	int err = check_mount(walk, fd);

	if (err)
		return err;
	return fstat(fd, ret_stat) ? -errno : 0;
}

static int walk_begin(struct walk *walk, const char *path)
{
	_cleanup_close_ int fd = open(walk->root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t len = strlen(path);
	struct stat status;
	int err = fd < 0 ? -errno : look_at(walk, fd, &status);

	if (err)
		return err;
	if (path[0] != '/')
		return -ENOENT;
	if (len >= sizeof(walk->rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, path, len + 1);
	walk->at = walk->rest;
	return enter(walk, TAKE_FD(fd), status.st_mode);
}

/* Replaces the link's name by the link's text in the rest of the path. */
static int follow(struct walk *walk, int fd)
{
	char text[MAX_PATH_BYTES * 2];
	size_t rest = strlen(walk->at);
	ssize_t len;

	if (++walk->links > MAX_LINKS)
		return -ELOOP;
	len = readlinkat(fd, "", text, MAX_PATH_BYTES);
	if (len < 0)
		return -errno;
	if (!len || (size_t)len + 1 + rest + 1 > sizeof(walk->rest))
		return len ? -ENAMETOOLONG : -ENOENT;
	memcpy(text + len, walk->at, rest + 1);
	memcpy(walk->rest, text, (size_t)len + rest + 1);
	walk->at = walk->rest;
	if (text[0] == '/')
		leave_to(walk, 1);
	return 0;
}

static int check_file(const struct walk *walk, int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	return walk->root->is_for_daemon || has_all(status.st_mode, S_IRUSR | S_IRGRP | S_IROTH)
	               ? 0
	               : -EACCES;
}

/* Turns an O_PATH descriptor into one for reading. */
static int open_checked(const struct walk *walk, int fd, int *ret_fd)
{
	_cleanup_close_ int opened = -1;
	char path[48];
	int err = check_file(walk, fd);

	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (opened < 0)
		return -errno;
	err = check_file(walk, opened);
	if (!err)
		*ret_fd = TAKE_FD(opened);
	return err;
}

/* Takes the next name and its slashes from the rest of the path; -ENOENT at the end. */
static int next_name(struct walk *walk, char *name, size_t name_bytes)
{
	size_t len;

	walk->at += strspn(walk->at, "/");
	len = strcspn(walk->at, "/");
	if (!len)
		return -ENOENT;
	if (len >= name_bytes)
		return -ENAMETOOLONG;
	memcpy(name, walk->at, len);
	name[len] = '\0';
	walk->at += len;
	return 0;
}

/* Walks one name. Sets `*ret_fd` when it is the file. */
static int step(struct walk *walk, const char *name, int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	struct stat status;
	int err;

	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, "..")) {
		leave_to(walk, walk->depth > 1 ? walk->depth - 1 : 1);
		return 0;
	}
	fd = openat(walk->folders[walk->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? -errno : look_at(walk, fd, &status);
	if (err)
		return err;
	if (S_ISLNK(status.st_mode))
		return walk->root->is_no_link && !*walk->at ? -ELOOP : follow(walk, fd);
	if (S_ISDIR(status.st_mode))
		return enter(walk, TAKE_FD(fd), status.st_mode);
	return *walk->at ? -ENOTDIR : open_checked(walk, fd, ret_fd);
}

int path_open(const struct path_root *root, const char *path, int *ret_fd)
{
	_cleanup_(walk_release) struct walk walk = {.root = root};
	char name[256];
	int fd = -1, err;

	err = walk_begin(&walk, path);
	while (!err && fd < 0) {
		/* A path can make the walk repeat names many times at no cost to its author. */
		if (clock_mono_ns() >= root->until_ns)
			return -ETIMEDOUT;
		err = next_name(&walk, name, sizeof(name));
		if (err == -ENOENT)
			return -EINVAL; /* the path is a folder */
		if (!err)
			err = step(&walk, name, &fd);
	}
	if (!err)
		*ret_fd = fd;
	return err;
}
