/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mappings of one file mostly follow each other, so most calls cost one comparison.
 */
#include "probes/file_seen.h"

bool file_seen_is_new(struct file_seen *seen, const struct proc_mapping *mapping)
{
	if (!mapping->object || mapping->object == seen->last)
		return false;
	seen->last = mapping->object;
	for (size_t i = 0; i < seen->count; i++) {
		if (seen->used[i] == mapping->object)
			return false;
	}
	return true;
}

bool file_seen_use(struct file_seen *seen, const struct proc_mapping *mapping)
{
	if (seen->count == MAX_FILES_SEEN)
		return false;
	seen->used[seen->count++] = mapping->object;
	return true;
}
