/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct store - all open objects: one per file however many processes map it, unified by build ID.
 * Bounded: when it is full the object that was used longest ago is closed, and its addresses keep
 * their file's name but lose their functions'. The loop thread opens, the symbolizing thread gets
 * by id; the store's own lock is held for table look-ups only, never while a file is read.
 */
#pragma once

#include "object/object.h"

struct store;

/* A file as a side-band record or /proc/PID/maps names it. */
struct file_key {
	uint32_t major, minor;
	uint64_t inode, generation; /* generation 0: not known */
};

struct store_stats {
	uint64_t objects, opened, open_failed, evicted;
};

struct store *store_new(size_t max_objects);
void store_free(struct store *store);
DEFINE_CLEANUP(struct store *, store_free)

/* The object that process `pid` has mapped at [start, end) under `path`: through
 * /proc/PID/map_files, which works for deleted and containers' files as well, else /proc/PID/root,
 * else the path itself. A key that was seen before opens nothing, while the file that is held open
 * has not changed. The vdso is read from our own memory. NULL when it cannot be opened, or is no
 * ELF file, which is remembered too. The object stays the store's, at least until the next
 * store_open(); do not unref it. */
const struct object *store_open(struct store *store, const struct file_key *key, uint32_t pid,
                                uint64_t start, uint64_t end, const char *path);
/* A reference, or NULL when it was evicted. Any thread. */
struct object *store_get(struct store *store, uint32_t id);
void store_get_stats(struct store *store, struct store_stats *ret_stats);
