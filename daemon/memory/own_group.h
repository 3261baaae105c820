/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel charges to the control group that this process runs in, where nobody else runs in
 * it: everything that profd holds, what the kernel keeps for it included. A service's group is such
 * a one, and a container's; a session's is not. One thread at a time.
 */
#pragma once

#include "memory/control_group.h"

#include <sys/types.h>

struct own_group {
	struct control_group_mount mount;
	bool looked; /* for the mount, which stays where it is */
};

struct own_group_usage {
	uint64_t bytes;
	uint64_t kernel_bytes; /* of these; OWN_GROUP_UNKNOWN: this kernel does not say */
};

#define OWN_GROUP_UNKNOWN UINT64_MAX

/* Reads the text of cgroup.procs: whether it names processes of the list, and children that this
 * one has started since, and no others. */
bool own_group_parse_members(const char *bytes, size_t len, const pid_t *pids, size_t count);
/* "kernel" of version 2's memory.stat: Linux 5.18. -ENOENT. */
int own_group_parse_kernel(const char *bytes, size_t len, uint64_t *ret_bytes);

/* Into one that is all zero at first. `pids` are this process and its children. -ENOENT when there
 * is no such group, or others are in it. */
int own_group_read(struct own_group *group, const pid_t *pids, size_t count,
                   struct own_group_usage *ret_usage);
/* The same of the group at this path. */
int own_group_read_at(const struct control_group_mount *mount, const char *path, const pid_t *pids,
                      size_t count, struct own_group_usage *ret_usage);
