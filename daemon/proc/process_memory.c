/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * process_vm_readv() brings pages in, and that may take long: from a swap disk, from a file system
 * in user space, from a process that handles its own faults. So the kernel is first asked which
 * pages are in memory.
 */
#include "proc/process_memory.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>

#define PAGE_PRESENT (1ULL << 63) /* in an entry of /proc/PID/pagemap */

static int check_present(const struct process_memory *memory, uint64_t address, size_t len)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), entries[64];
	uint64_t page = address / page_bytes, end = (address + len - 1) / page_bytes + 1;

	while (page < end) {
		size_t count = end - page < 64 ? (size_t)(end - page) : 64;
		ssize_t want = (ssize_t)(count * sizeof(*entries));

		if (pread(memory->pages, entries, (size_t)want, (off_t)(page * sizeof(*entries))) !=
		    want)
			return -EFAULT;
		for (size_t i = 0; i < count; i++)
			if (!(entries[i] & PAGE_PRESENT))
				return -EFAULT;
		page += count;
	}
	return 0;
}

int process_memory_open(uint32_t pid, struct process_memory *ret_memory)
{
	char path[32];

	*ret_memory = (struct process_memory){.pid = pid, .pages = -1};
	if (!pid || pid > INT32_MAX)
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/%u/pagemap", pid);
	ret_memory->pages = open(path, O_RDONLY | O_CLOEXEC);
	if (ret_memory->pages < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return 0;
}

void process_memory_close(struct process_memory *memory)
{
	if (memory->pages >= 0)
		close(memory->pages);
	memory->pages = -1;
}

int process_memory_get(const struct process_memory *memory, uint64_t address, void *into,
                       size_t len)
{
	struct iovec to = {into, len};
	struct iovec from = {(void *)(uintptr_t)address, len};
	uint64_t end;
	int err;

	if (!len || len > MAX_PROCESS_MEMORY_BYTES || __builtin_add_overflow(address, len, &end) ||
	    end > INT64_MAX)
		return -EINVAL;
	err = check_present(memory, address, len);
	if (err < 0)
		return err;
	ssize_t got = process_vm_readv((pid_t)memory->pid, &to, 1, &from, 1, 0);
	if (got < 0)
		return -errno;
	return (size_t)got == len ? 0 : -EFAULT;
}

/* /proc gives the start time in ticks. */
bool process_memory_is_of(uint32_t pid, uint64_t began_ns)
{
	const uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);

	return reach_began_boot_ns(pid) == began_ns / tick_ns * tick_ns;
}

bool process_memory_is_since(uint32_t pid, uint64_t mono_ns)
{
	const uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t began_ns = reach_began_boot_ns(pid), now_ns = clock_mono_ns();

	/* It may have begun up to a tick later. */
	return began_ns != UINT64_MAX && began_ns + tick_ns <= mono_ns + (clock_boot_ns() - now_ns);
}

int process_memory_read(uint32_t pid, uint64_t address, void *into, size_t len)
{
	_cleanup_(process_memory_close) struct process_memory memory;
	int err = process_memory_open(pid, &memory);

	return err ?: process_memory_get(&memory, address, into, len);
}
