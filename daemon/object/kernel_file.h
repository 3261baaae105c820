/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether an open file is the file that the kernel reported for a mapping. The numbers from stat()
 * may differ from the kernel's: on btrfs the device differs, on an overlay the inode and the
 * device. In that case the file is mapped for a moment, without being touched, and /proc/self/maps
 * shows the kernel's numbers for it. No state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Identifies a file by the numbers in records of mappings and in /proc/PID/maps. */
struct kernel_file {
	uint32_t major, minor;
	uint64_t inode;
};

bool kernel_file_is(const struct kernel_file *file, int fd, const struct stat *st);
/* Whether other files may have the same numbers: on btrfs, all subvolumes have the same device
 * here, and each counts its inodes for itself. Any user may make a subvolume. Asks the file
 * system. */
bool kernel_file_has_doubles(int fd);
/* Finds the file of the mapping that contains an address, in the text of a maps file. False: there
 * is no such mapping. */
bool kernel_file_find(const char *bytes, size_t len, uint64_t address,
                      struct kernel_file *ret_file);
