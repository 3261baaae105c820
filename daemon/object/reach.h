/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How to get at a file that another process has mapped: it may be deleted, replaced, or visible in
 * that process's mount namespace only. No state; any thread.
 */
#pragma once

#include "base/bounds.h"
#include "object/kernel_file.h"
#include "object/object.h"

#include <sys/stat.h>

/* Where a file was seen. */
struct place {
	uint32_t pid, user;      /* a process, and whose it is */
	uint64_t start, end;     /* of the mapping */
	struct kernel_file file; /* inode 0: not known */
	const char *path;
};

/* false for memory that only looks like a file: anonymous, shared, special. */
bool reach_is_file(const char *path);
/* The path without the kernel's " (deleted)", cut when it is too long. */
void reach_path(const char *path, char ret_path[MAX_PATH_BYTES]);
/* Opens a regular file and nothing else: a device would notice. A descriptor, or a negative errno:
 * -ENOEXEC when it is none, -EOPNOTSUPP when a program of a user serves it (object/mounts.h),
 * -EWOULDBLOCK when somebody has a lease on it. Waits for the file system. `ret_stat` may be NULL.
 */
int reach_regular(const char *path, struct stat *ret_stat);
/* reach_regular() of what a process maps from `start` to `end`, whatever lies under its path now;
 * -ENOENT when there is no such mapping of a file. */
int reach_mapped(uint32_t pid, uint64_t start, uint64_t end, struct stat *ret_stat);
/* Of a process, 0: our own. All zero when it is gone. */
struct root_id reach_root_id(uint32_t pid);
/* When it began, by CLOCK_BOOTTIME, cut to a tick of 10 ms; UINT64_MAX when it is gone. */
uint64_t reach_began_boot_ns(uint32_t pid);
struct spaces_id reach_spaces(uint32_t pid); /* the namespaces that it is in */
/* Whether a path leads from that root folder, in that mount namespace, where it leads the host's
 * first process, or us: a service mostly has mounts of its own. */
bool reach_is_hosts(const struct root_id *root, uint64_t mounts);
bool reach_sees_hosts(uint32_t pid); /* the same of a process; false when it is gone */
/* A process's root folder, for reach_below(), when it is another one than ours; else a negative
 * errno, -ENOENT when it is the same, -EOPNOTSUPP when a program of a user serves it. */
int reach_root(uint32_t pid);
/* reach_regular() of a path as a process with that root folder sees it, links and all, but not of
 * what is mounted below: that may be anybody's. */
int reach_below(int root, const char *path, struct stat *ret_stat);
/* A descriptor, or a negative errno: -ENOEXEC when it is no regular file, -ESTALE when only another
 * file was found. Not `ret_is_it`: it may be another file of that name, as who maps files can have
 * it. Good enough for that process, and for no other one. */
int reach_open(const struct place *place, bool *ret_is_it);
/* The vdso, which the kernel maps into every process, from our own memory. */
int reach_vdso(struct object **ret_object);
