/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Control groups as far as they limit memory: where a process's is, and what its files say. Both
 * hierarchies: version 1 has a mount for the memory controller, version 2 one for all; where both
 * are mounted, memory is in the first if it is named there. Pure but for control_group_read(); any
 * thread.
 */
#pragma once

#include "base/bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many groups above a process's are looked at for a limit; deeper nesting is not known. */
enum { CONTROL_GROUP_DEPTH = 16 };

#define CONTROL_GROUP_NO_LIMIT UINT64_MAX

/* Where the hierarchy that limits memory is mounted. */
struct control_group_mount {
	unsigned int version;      /* 1 or 2; 0: nowhere */
	char root[MAX_PATH_BYTES]; /* of the hierarchy, which part is mounted: "/" */
	char point[MAX_PATH_BYTES];
};

struct control_group_usage {
	uint64_t bytes;
	uint64_t limit_bytes; /* CONTROL_GROUP_NO_LIMIT */
	uint64_t file_bytes;  /* of `bytes`: page cache, which goes before anything is killed.
	                         Read only near the limit; 0 else */
};

/* Reads the text of /proc/self/mountinfo. -ENOENT when memory is not limited by groups here. */
int control_group_parse_mounts(const char *bytes, size_t len,
                               struct control_group_mount *ret_mount);
/* Reads the text of /proc/PID/cgroup: the path within the mount, "/" at its root. -ENOENT when it
 * is in none of that version, or outside of what is mounted, or in one whose path is too long. */
int control_group_parse_path(const char *bytes, size_t len, const struct control_group_mount *mount,
                             char ret_path[MAX_CONTROL_GROUP_BYTES]);
/* "max", or a number; version 1 says no limit with one near 2^63. */
int control_group_parse_limit(const char *bytes, size_t len, uint64_t *ret_limit);
int control_group_parse_bytes(const char *bytes, size_t len, uint64_t *ret_bytes);
/* Page cache, of memory.stat of either version: of the group and those below it. */
uint64_t control_group_parse_file(const char *bytes, size_t len);

/* Cuts `path` to the innermost group, from it upwards, that has a limit, and reads what it uses. No
 * limit anywhere: the group itself. -ENOENT when it is gone. */
int control_group_read(const struct control_group_mount *mount, char path[MAX_CONTROL_GROUP_BYTES],
                       struct control_group_usage *ret_usage);
/* The same of exactly this group. */
int control_group_read_at(const struct control_group_mount *mount, const char *path,
                          struct control_group_usage *ret_usage);
/* Above `percent` of its limit, what can be dropped not counted. */
bool control_group_near(const struct control_group_usage *usage, unsigned int percent);
