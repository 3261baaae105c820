/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether a file system is a user's own program (FUSE, mounted by somebody else than root). Such a
 * program decides when an open file may be closed: the kernel waits for it without end, even in a
 * process that was killed (fuse_flush). Its files are not opened. Nor are those of an overlay that
 * a user mounted, for whom it may lie above such a file system: it asks that one in the name of who
 * mounted it. Any thread, no state.
 *
 * Format of mountinfo: proc_pid_mountinfo(5); user_id is FUSE's, who mounted it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum mount_kind { MOUNT_UNKNOWN, MOUNT_PLAIN, MOUNT_OVERLAY, MOUNT_OF_USER };

/* What the text of a mountinfo file says of a device. */
enum mount_kind mounts_find(const char *bytes, size_t len, dev_t device);
/* Whether a file may be opened that is at hand as an O_PATH descriptor, on that device and mapped
 * by a process (0: by none). */
bool mounts_may_open(int fd, uint32_t pid, dev_t device);
