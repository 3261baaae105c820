/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether an open file is the one that the kernel told of, when it told of a mapping. stat() does
 * not always say so: on btrfs it tells another device, on an overlay another inode and device too.
 * Then the file is mapped by us for a moment, never touched, and /proc/self/maps tells what the
 * kernel calls it. No state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Which file, as records of mappings and /proc/PID/maps have it. */
struct kernel_file {
	uint32_t major, minor;
	uint64_t inode;
};

bool kernel_file_is(const struct kernel_file *file, int fd, const struct stat *st);
/* The file of the mapping that this address is in, by the text of a maps file. False: there is
 * none.
 */
bool kernel_file_find(const char *bytes, size_t len, uint64_t address,
                      struct kernel_file *ret_file);
