/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory that the kernel charges to the control group of the daemon, provided that no other
 * process is in that group: all memory of profd, including what the kernel keeps for it. The group
 * of a service or of a container qualifies; that of a session does not. One thread at a time.
 */
#pragma once

#include "memory/control_group.h"

#include <sys/types.h>

struct own_group {
	struct control_group_mount mount;
	bool looked; /* the mount was looked up, which is done only once */
};

struct own_group_usage {
	uint64_t bytes;
	uint64_t kernel_bytes; /* of `bytes`; OWN_GROUP_UNKNOWN: the kernel does not report it */
};

#define OWN_GROUP_UNKNOWN UINT64_MAX

/* Parses the text of cgroup.procs: true when it has only processes of the list, and children that
 * the daemon has started since, and at least one. */
bool own_group_parse_members(const char *bytes, size_t len, const pid_t *pids, size_t count);
/* "kernel" of version 2's memory.stat, from Linux 5.18 on. -ENOENT when it is not there. */
int own_group_parse_kernel(const char *bytes, size_t len, uint64_t *ret_bytes);

/* `group` is all zero before the first call. `pids` are this process and its children. -ENOENT when
 * there is no such group, or other processes are in it. */
int own_group_read(struct own_group *group, const pid_t *pids, size_t count,
                   struct own_group_usage *ret_usage);
/* The same for the group at this path. */
int own_group_read_at(const struct control_group_mount *mount, const char *path, const pid_t *pids,
                      size_t count, struct own_group_usage *ret_usage);
