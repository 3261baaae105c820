/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_seen - objects that were met in one look at a process, whose owner can map a file
 * thousands of times, or thousands of files that look like those that are probed. Start with
 * zeroes. Loop thread only.
 */
#pragma once

#include "proc/mapping_set.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_FILES_SEEN = 32 }; /* files of a process that look like what is probed */

struct file_seen {
	uint32_t last;
	uint32_t used[MAX_FILES_SEEN];
	size_t count;
};

/* The mapping is of a file, and neither of the one that was asked about before nor of one that is
 * used. What is no ELF file has no object, and is none. */
bool file_seen_is_new(struct file_seen *seen, const struct proc_mapping *mapping);
/* It is used. False: the process has too many. */
bool file_seen_use(struct file_seen *seen, const struct proc_mapping *mapping);
