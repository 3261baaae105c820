/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct cache - downloaded debug files, on disk and under a bound: what was used least recently
 * goes first. No user but root has more than half of it. A file that is open is not removed, for
 * its room would not come free. One thread at a time.
 */
#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct cache;

struct cache_stats {
	uint64_t files, bytes; /* that are there */
	uint64_t evicted;      /* files, since the start */
};

/* Those that are there already count; what is too much is removed. The folder is made if need be,
 * but not the one that it is in. 0 or a negative errno. */
int cache_open(const char *path, uint64_t max_bytes, struct cache **ret_cache);
void cache_free(struct cache *cache);
DEFINE_CLEANUP(struct cache *, cache_free)
/* Of the folder, as long as the cache. */
int cache_folder(const struct cache *cache);

/* A descriptor of the caller's, to read; or -ENOENT. It counts as use until it is closed, and so do
 * its copies. */
int cache_get(struct cache *cache, const char *build_id);
/* A descriptor of the caller's, to read and write: of a new file, which is nobody's yet. There is
 * one at a time. */
int cache_begin(struct cache *cache);
/* The new file is kept under this name, or removed: -EDQUOT: the owner's other files are in use;
 * -ENOSPC: all others are. */
int cache_keep(struct cache *cache, const char *build_id, uint32_t owner, uint64_t bytes);
void cache_drop(struct cache *cache); /* the new file */
void cache_get_stats(const struct cache *cache, struct cache_stats *ret_stats);
