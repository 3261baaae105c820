/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading the memory of another process, a bounded piece at a time. No state; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MAX_PROCESS_MEMORY_BYTES = 1 << 20 }; /* of one read */

/* All of [address, address + len) of `pid`, or nothing: -EFAULT when it is not mapped or not in
 * memory just now, -EINVAL for a range that cannot be, -ESRCH, or what the kernel says. Never waits
 * for a disk. */
int process_memory_read(uint32_t pid, uint64_t address, void *into, size_t len);
