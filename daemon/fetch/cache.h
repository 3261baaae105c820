/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct cache - downloaded debug files, on disk and within a limit: the least recently used file
 * is removed first. No user except root may have more than half of the cache. Open files are not
 * removed, because that would not free their space. One thread at a time.
 */
#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct cache;

struct cache_stats {
	uint64_t files, bytes; /* that the cache has */
	uint64_t evicted;      /* files removed since the start */
};

/* Existing files count; files beyond the limit are removed. Makes the folder if needed, but not its
 * parent. 0 or a negative errno. */
int cache_open(const char *path, uint64_t max_bytes, struct cache **ret_cache);
void cache_free(struct cache *cache);
DEFINE_CLEANUP(struct cache *, cache_free)
/* Descriptor of the folder, valid as long as the cache. */
int cache_folder(const struct cache *cache);

/* A descriptor for reading, which the caller owns; or a negative errno, such as -ENOENT. The file
 * counts as in use until the descriptor and all its copies are closed. */
int cache_get(struct cache *cache, const char *build_id);
/* A descriptor for reading and writing, which the caller owns, of a new file that has no name or
 * owner yet. There is one new file at a time. */
int cache_begin(struct cache *cache);
/* Keeps the new file under this name, or removes it: -EDQUOT: the owner's other files are in use;
 * -ENOSPC: all other files are. */
int cache_keep(struct cache *cache, const char *build_id, uint32_t owner, uint64_t bytes);
void cache_drop(struct cache *cache); /* removes the new file */
void cache_get_stats(const struct cache *cache, struct cache_stats *ret_stats);
