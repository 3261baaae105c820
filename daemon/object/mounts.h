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

/* An overlay is whose who mounted it is, and so is a FUSE that its own text says root has mounted:
 * that is the root of the user namespace it was mounted in. In a mount namespace that belongs to
 * our user namespace, as ours does, nobody but root mounts either. */
enum mount_kind { MOUNT_UNKNOWN, MOUNT_PLAIN, MOUNT_OVERLAY, MOUNT_OF_A_ROOT, MOUNT_OF_USER };

/* What the text of a mountinfo file says of the mount of that id (0: not known), or, where it has
 * none, of the device. */
enum mount_kind mounts_find(const char *bytes, size_t len, uint64_t id, dev_t device);
/* Whether a file may be opened that is at hand as an O_PATH descriptor, and mapped by a process (0:
 * by none). */
bool mounts_may_open(int fd, uint32_t pid);
/* The same of a file or folder that a process (0: we) has among its mounts, without anything asked
 * of the file system: false for what is mounted nowhere that can be seen, too. */
bool mounts_may_ask(int fd, uint32_t pid);
