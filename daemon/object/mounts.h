/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides whether a file system is served by a program of a user (FUSE, mounted by a user other
 * than root). Such a program decides when an open file may be closed: the kernel waits for it
 * without limit, even in a process that was killed (fuse_flush). Files of such a file system are
 * not opened. Files of an overlay that a user mounted are not opened either, because the overlay
 * may lie above such a file system and sends it requests with the credentials of the mounter. Any
 * thread, no state.
 *
 * Format of mountinfo: proc_pid_mountinfo(5). The option user_id of FUSE is the user that mounted
 * it.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* For MOUNT_OVERLAY, and for MOUNT_OF_A_ROOT (a FUSE whose options name user 0), it matters which
 * root mounted it, because that user may be root only of the user namespace of the mount. In a
 * mount namespace that belongs to the daemon's user namespace, as the daemon's own does, only root
 * can mount these. */
enum mount_kind { MOUNT_UNKNOWN, MOUNT_PLAIN, MOUNT_OVERLAY, MOUNT_OF_A_ROOT, MOUNT_OF_USER };

/* The kind of the mount with that id in the text of a mountinfo file (id 0: unknown). If no mount
 * has the id, the kind of the first mount of the device. */
enum mount_kind mounts_find(const char *bytes, size_t len, uint64_t id, dev_t device);
/* Whether the daemon lacks something that it may have again soon: descriptors or memory. */
static inline bool mounts_is_short(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* Whether a file may be opened. `fd` is an O_PATH descriptor of it; `pid` is the process that
 * mapped it (0: none). 0; -EOPNOTSUPP: it may not; another errno for which mounts_is_short(): that
 * cannot be found out now. */
int mounts_check_open(int fd, uint32_t pid);
/* The same for a file or folder among the mounts of a process (0: the daemon), without a request to
 * the file system. A file whose mount is not visible may not be opened either. */
int mounts_check_ask(int fd, uint32_t pid);
