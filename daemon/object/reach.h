/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How to open a file that another process has mapped. The file may be deleted, replaced, or visible
 * only in that process's mount namespace. No state; any thread.
 */
#pragma once

#include "base/bounds.h"
#include "object/kernel_file.h"
#include "object/object.h"

#include <sys/stat.h>

/* Where a file was seen. */
struct place {
	uint32_t pid, user;      /* a process, and the user that runs it */
	uint64_t start, end;     /* of the mapping */
	struct kernel_file file; /* inode 0: unknown */
	const char *path;
};

/* False for memory that only looks like a file: anonymous, shared or special memory. */
bool reach_is_file(const char *path);
/* Copies the path without the kernel's suffix " (deleted)", truncated when it is too long. */
void reach_path(const char *path, char ret_path[MAX_PATH_BYTES]);
/* Opens a regular file and nothing else, because opening a device has effects. Waits for the file
 * system. `ret_stat` may be NULL. Returns a descriptor, or a negative errno: -ENOEXEC when it is no
 * regular file, -EOPNOTSUPP when a program of a user serves it (object/mounts.h), -EWOULDBLOCK when
 * another process has a lease on it; -EMFILE, -ENFILE or -ENOMEM when any of this cannot be found
 * out now. */
int reach_regular(const char *path, struct stat *ret_stat);
/* Like reach_regular(), for the file that a process maps from `start` to `end`, whatever file is at
 * its path now. -ENOENT when there is no such mapping of a file. */
int reach_mapped(uint32_t pid, uint64_t start, uint64_t end, struct stat *ret_stat);
/* The root folder of a process (0: the daemon). All zero when the process is gone. */
struct root_id reach_root_id(uint32_t pid);
/* The start time of a process, by CLOCK_BOOTTIME, truncated to a clock tick of 10 ms. UINT64_MAX
 * when the process is gone. */
uint64_t reach_began_boot_ns(uint32_t pid);
struct spaces_id reach_spaces(uint32_t pid); /* the namespaces of the process */
/* Whether a path from that root folder, in that mount namespace, leads to the same file as a path
 * of the host's first process or of the daemon. The daemon counts too, because a service often has
 * its own mount namespace. */
bool reach_is_hosts(const struct root_id *root, uint64_t mounts);
bool reach_sees_hosts(uint32_t pid); /* the same for a process; false when the process is gone */
/* Opens a process's root folder for reach_below(), if it is not the daemon's own. Returns a
 * negative errno otherwise: -ENOENT when it is the same or the process is gone, -EOPNOTSUPP when a
 * program of a user serves it. */
int reach_root(uint32_t pid);
/* Like reach_regular(), for a path as a process with that root folder sees it, links included. File
 * systems that are mounted below the root folder are not entered, because any user may have mounted
 * them. */
int reach_below(int root, const char *path, struct stat *ret_stat);
/* Returns a descriptor, or a negative errno: -ENOEXEC when it is no regular file, -ESTALE when only
 * another file was found. When `ret_is_it` is false, the file may be another one of the same name,
 * which the process that maps files can arrange. Such a file is used for that process only. */
int reach_open(const struct place *place, bool *ret_is_it);
/* The vdso, which the kernel maps into every process. It is copied from the daemon's memory. */
int reach_vdso(struct object **ret_object);
