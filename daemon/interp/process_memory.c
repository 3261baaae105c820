/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * process_vm_readv() brings pages in, and a page may be long in coming: from a swap disk, from a
 * file system in user space, from a process that handles its own faults. So the kernel is asked
 * first which pages are there.
 */
#include "interp/process_memory.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/uio.h>

#define PAGE_PRESENT (1ULL << 63) /* of an entry of /proc/PID/pagemap */

static int check_present(uint32_t pid, uint64_t address, size_t len)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), entries[64];
	uint64_t page = address / page_bytes, end = (address + len - 1) / page_bytes + 1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/pagemap", pid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (page < end) {
		size_t count = end - page < 64 ? (size_t)(end - page) : 64;
		ssize_t want = (ssize_t)(count * sizeof(*entries));

		if (pread(fd, entries, (size_t)want, (off_t)(page * sizeof(*entries))) != want)
			return -EFAULT;
		for (size_t i = 0; i < count; i++)
			if (!(entries[i] & PAGE_PRESENT))
				return -EFAULT;
		page += count;
	}
	return 0;
}

int process_memory_read(uint32_t pid, uint64_t address, void *into, size_t len)
{
	struct iovec to = {into, len};
	struct iovec from = {(void *)(uintptr_t)address, len};
	uint64_t end;
	int err;

	if (!pid || pid > INT32_MAX || !len || len > MAX_PROCESS_MEMORY_BYTES ||
	    __builtin_add_overflow(address, len, &end) || end > INT64_MAX)
		return -EINVAL;
	err = check_present(pid, address, len);
	if (err < 0)
		return err;
	ssize_t got = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);
	if (got < 0)
		return -errno;
	return (size_t)got == len ? 0 : -EFAULT;
}
