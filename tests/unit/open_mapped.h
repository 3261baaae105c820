/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens a file that this process maps with store_open().
 */
#pragma once

#include "object/store.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* As a record has it; of a file that is not there, with some inode. */
static inline struct file_key key_of(const char *path)
{
	struct stat st = {.st_ino = 1};

	(void)!stat(path, &st);
	return (struct file_key){
		.major = major(st.st_dev), .minor = minor(st.st_dev), .inode = st.st_ino};
}

/* NULL when the file has no object. The store owns the object and keeps it at least until the next
 * file is opened. */
static inline const struct object *open_place(struct store *store, const struct file_key *key,
                                              const struct place *place)
{
	_cleanup_(object_unrefp) struct object *object = NULL;
	uint32_t id;

	if (!store_open(store, key, place, &id))
		object = store_get(store, id);
	return object;
}

static inline const struct object *open_mapped(struct store *store, const struct file_key *key,
                                               uint64_t start, uint64_t end, const char *path)
{
	return open_place(store, key,
	                  &(struct place){.pid = (uint32_t)getpid(),
	                                  .start = start,
	                                  .end = end,
	                                  .file = {key->major, key->minor, key->inode},
	                                  .path = path});
}

/* The same for a file that is opened by its path. */
static inline const struct object *open_named(struct store *store, const char *path)
{
	const struct file_key key = key_of(path);

	return open_mapped(store, &key, 0, 0, path);
}
