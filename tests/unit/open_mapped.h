/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens a file that this process maps with store_open(), and returns the object.
 */
#pragma once

#include "object/store.h"

#include <unistd.h>

/* NULL when the file has no object. The store owns the object and keeps it at least until the next
 * file is opened. */
static inline const struct object *open_mapped(struct store *store, const struct file_key *key,
                                               uint64_t start, uint64_t end, const char *path)
{
	const struct place place = {.pid = (uint32_t)getpid(),
	                            .start = start,
	                            .end = end,
	                            .file = {key->major, key->minor, key->inode},
	                            .path = path};
	_cleanup_(object_unrefp) struct object *object =
		store_get(store, store_open(store, key, &place));

	return object;
}
