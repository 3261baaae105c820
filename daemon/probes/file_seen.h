/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_seen - the objects met during one inspection of a process. The owner of a process can
 * map a file thousands of times, or map thousands of files that look like probed ones. Initialize
 * to zeroes. Loop thread only.
 */
#pragma once

#include "proc/mapping_set.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_FILES_SEEN = 32 }; /* files of a process that look like a probed file */

struct file_seen {
	uint32_t last;
	uint32_t used[MAX_FILES_SEEN];
	size_t count;
};

/* Whether the mapping is of a file, and that file is neither the one of the call before nor one
 * that is in use. A file that is not ELF has no object, and gets false. */
bool file_seen_is_new(struct file_seen *seen, const struct proc_mapping *mapping);
/* Notes that the mapping's file is used. False: the process has too many. */
bool file_seen_use(struct file_seen *seen, const struct proc_mapping *mapping);
