/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Control groups as limits of memory: finds the group of a process and reads its files. Supports
 * both hierarchies: version 1 has a mount for the memory controller, version 2 one mount for all
 * controllers. When both are mounted, memory is controlled by version 1 if a version 1 mount names
 * it. Pure except for control_group_read() and control_group_read_at(); any thread.
 */
#pragma once

#include "base/bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many levels are searched for a limit, from the group of a process upwards. */
enum { CONTROL_GROUP_DEPTH = 16 };

#define CONTROL_GROUP_NO_LIMIT UINT64_MAX

/* The mount of the hierarchy that limits memory. */
struct control_group_mount {
	unsigned int version;      /* 1 or 2; 0: not mounted */
	char root[MAX_PATH_BYTES]; /* the part of the hierarchy that is mounted; "/": all of it */
	char point[MAX_PATH_BYTES];
};

struct control_group_usage {
	uint64_t bytes;
	uint64_t limit_bytes; /* or CONTROL_GROUP_NO_LIMIT */
	uint64_t file_bytes;  /* page cache, a part of `bytes`; the kernel reclaims it before it
	                         kills. Read only near the limit; otherwise 0 */
};

/* Parses the text of /proc/self/mountinfo. -ENOENT when no mounted hierarchy limits memory. */
int control_group_parse_mounts(const char *bytes, size_t len,
                               struct control_group_mount *ret_mount);
/* Parses the text of /proc/PID/cgroup: the path within the mount, "/" at its root. -ENOENT when the
 * process is in no group of that version, in one outside the mount, or in one whose path is too
 * long. */
int control_group_parse_path(const char *bytes, size_t len, const struct control_group_mount *mount,
                             char ret_path[MAX_CONTROL_GROUP_BYTES]);
/* "max", or a number; in version 1 a number near 2^63 means no limit. */
int control_group_parse_limit(const char *bytes, size_t len, uint64_t *ret_limit);
int control_group_parse_bytes(const char *bytes, size_t len, uint64_t *ret_bytes);
/* The page cache of the group and of those below it, from memory.stat of either version. */
uint64_t control_group_parse_file(const char *bytes, size_t len);

/* Truncates `path` to the innermost group with a limit, from the group itself upwards, and reads
 * the usage of that group. Without any limit, reads the group itself. -ENOENT when it is gone. */
int control_group_read(const struct control_group_mount *mount, char path[MAX_CONTROL_GROUP_BYTES],
                       struct control_group_usage *ret_usage);
/* Reads the usage and limit of exactly this group. */
int control_group_read_at(const struct control_group_mount *mount, const char *path,
                          struct control_group_usage *ret_usage);
/* Whether the usage without page cache is above `percent` of the limit. */
bool control_group_near(const struct control_group_usage *usage, unsigned int percent);
