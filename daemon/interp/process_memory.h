/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading the memory of another process, a bounded piece at a time. Any thread but the loop's, each
 * its own: what is in memory when it is asked about may not be when it is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_PROCESS_MEMORY_BYTES = 1 << 20 }; /* of one read */

/* For many reads of one process. */
struct process_memory {
	uint32_t pid;
	int pages; /* /proc/PID/pagemap; -1: not open */
};

/* 0, -ESRCH, -EINVAL for what cannot be a pid, or what the kernel says. */
int process_memory_open(uint32_t pid, struct process_memory *ret_memory);
void process_memory_close(struct process_memory *memory); /* opened or not */
/* All of [address, address + len), or nothing: -EFAULT when it is not mapped or not in memory just
 * now, -EINVAL for a range that cannot be, -ESRCH, or what the kernel says. Does not wait for a
 * disk.
 */
int process_memory_get(const struct process_memory *memory, uint64_t address, void *into,
                       size_t len);
/* Whether the process with this number is the one that began then, on CLOCK_BOOTTIME. Asked after a
 * reading, it says whose memory that was, but for exec (bpf/execs.h). */
bool process_memory_is_of(uint32_t pid, uint64_t began_ns);
/* Opens, reads, closes. */
int process_memory_read(uint32_t pid, uint64_t address, void *into, size_t len);
