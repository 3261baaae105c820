/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table of files by path. When they take too much memory, all of them are forgotten at once.
 */
#include "symbolize/source_cache.h"

#include "base/clock.h"
#include "base/table.h"

#include <string.h>
/* When there is no memory for the table, a file is read again when it is needed again. */

enum { MAX_FILES = 1024 }; /* opened for one answer */
const struct source_budget source_cache_budget = {
	.ns = NSEC_PER_SEC,
	.bytes = 64 << 20,
	.memory = 32 << 20,
};
enum { MAX_HELD_BYTES = 16 << 20 }; /* of files read before the current one */

struct cached {
	char *file;
	struct source_text *text; /* NULL: the file is not shown */
	UT_hash_handle hh;
};

struct source_cache {
	struct aside *aside;
	struct cached *by_file;
	struct source_budget left;
	size_t opened, held;
};

struct source_cache *source_cache_new(const struct source_budget *budget, struct aside *aside)
{
	struct source_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->left = *budget;
	cache->aside = aside;
	return cache;
}

static void cached_free(struct cached *cached)
{
	source_text_free(cached->text);
	free(cached->file);
	free(cached);
}

static void clear(struct source_cache *cache)
{
	struct cached *cached, *next;

	HASH_ITER (hh, cache->by_file, cached, next) {
		HASH_DEL(cache->by_file, cached);
		cached_free(cached);
	}
	cache->held = 0;
}

void source_cache_free(struct source_cache *cache)
{
	if (!cache)
		return;
	clear(cache);
	free(cache);
}

/* NULL also when the budget is used up. */
static struct source_text *read_text(struct source_cache *cache, const struct source_root *root,
                                     const char *file)
{
	struct source_text *text = NULL;

	if (!cache->left.ns || !cache->left.bytes)
		return NULL;
	if (cache->held > MAX_HELD_BYTES)
		clear(cache);
	if (source_text_read_within(cache->aside, root, file, &cache->left, &text))
		return NULL;
	cache->held += source_text_memory(text);
	return text;
}

static struct cached *load(struct source_cache *cache, const struct source_root *root,
                           const char *file)
{
	struct cached *cached;

	if (cache->opened >= MAX_FILES)
		return NULL;
	cache->opened++;
	cached = calloc(1, sizeof(*cached));
	if (!cached)
		return NULL;
	cached->file = strdup(file);
	if (!cached->file) {
		cached_free(cached);
		return NULL;
	}
	cached->text = read_text(cache, root, file);
	HASH_ADD_KEYPTR(hh, cache->by_file, cached->file, strlen(cached->file), cached);
	if (!cached->hh.tbl) {
		cached_free(cached);
		return NULL;
	}
	return cached;
}

const char *source_cache_line(struct source_cache *cache, const struct source_root *root,
                              const char *file, uint32_t number)
{
	struct cached *cached;

	HASH_FIND_STR(cache->by_file, file, cached);
	if (!cached)
		cached = load(cache, root, file);
	return cached && cached->text ? source_text_line(cached->text, number) : NULL;
}
