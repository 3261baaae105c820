/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads the memory of another process, a bounded piece at a time. Any thread except the loop's,
 * each with its own struct: a page that is in memory at the check may be gone at the read, which
 * then waits.
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

/* 0, -ESRCH, -EINVAL for an impossible pid, or the kernel's error. */
int process_memory_open(uint32_t pid, struct process_memory *ret_memory);
void process_memory_close(struct process_memory *memory); /* whether or not opening it succeeded */
/* Reads all of [address, address + len), or nothing: -EFAULT when it is not mapped or not in memory
 * at this moment, -EINVAL for an impossible range, -ESRCH, or the kernel's error. Does not wait for
 * a disk. */
int process_memory_get(const struct process_memory *memory, uint64_t address, void *into,
                       size_t len);
/* The same for readers that get a function and its context, which is the struct. */
static inline int process_memory_get_by(void *memory, uint64_t address, void *into, size_t len)
{
	return process_memory_get(memory, address, into, len);
}
/* Whether the process with this pid is the one that began at that time (CLOCK_BOOTTIME). A call
 * after a read confirms whose memory was read, except for an exec in between (bpf/execs.h). */
bool process_memory_is_of(uint32_t pid, uint64_t began_ns);
/* Whether the process with this pid is one that had begun at that time (CLOCK_MONOTONIC), and so
 * the one that had the pid then. */
bool process_memory_is_since(uint32_t pid, uint64_t mono_ns);
/* Opens, reads, closes. */
int process_memory_read(uint32_t pid, uint64_t address, void *into, size_t len);
