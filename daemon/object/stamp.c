/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "object/stamp.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Reads what the kernel has in memory: with AT_STATX_DONT_SYNC neither FUSE nor NFS asks its server
 * about an open file (fuse_update_get_attr, nfs_getattr), so this never waits. */
int stamp_read(int fd, struct stamp *ret_stamp)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) < 0)
		return -errno;
	*ret_stamp = (struct stamp){
		.device = makedev(st.stx_dev_major, st.stx_dev_minor),
		.inode = st.stx_ino,
		.size = st.stx_size,
		.mtime_ns = (uint64_t)st.stx_mtime.tv_sec * NSEC_PER_SEC + st.stx_mtime.tv_nsec,
		.ctime_ns = (uint64_t)st.stx_ctime.tv_sec * NSEC_PER_SEC + st.stx_ctime.tv_nsec,
	};
	return 0;
}
