/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What tables.c (descriptors and their words), tables_build.c (which to build next) share.
 */
#pragma once

#include "base/lane.h"
#include "reader/reader.h"
#include "unwind/pool.h"
#include "unwind/table.h"
#include "unwind/tables.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum executable_state {
	EXECUTABLE_FREE,
	EXECUTABLE_WAITING,
	EXECUTABLE_BUILDING, /* or built, and waiting for room */
	EXECUTABLE_READY,
	EXECUTABLE_NOTHING,
	EXECUTABLE_RETIRING, /* unpublished; its words may still be read */
};

/* What the daemon knows of a descriptor. */
struct executable {
	uint32_t object, references;
	enum executable_state state;
	uint32_t first, words; /* in the pool, whole grains */
	uint32_t rows;
	uint32_t wanted;   /* frames that missed it, since it was there last */
	uint32_t estimate; /* words it will need */
	bool measured;     /* it needed as many when it was built */
	bool followed;     /* walks came through code that is not described: so that is followed */
	bool too_large;    /* for the pool, whatever else is in it */
	bool again;        /* ready, and to be built again for that reason */
	uint32_t retry_epoch; /* not built before */
	uint32_t retries;     /* how often that was set, up to a limit */
	uint64_t refused;     /* tables->gives when there was no room for it */
	UT_hash_handle hh;
};

struct build {
	struct job job;
	struct tables *tables;
	uint32_t id; /* 0: none is under way */
	struct object *object;
	bool follow;
	size_t max_words;
	struct table *table;
	uint32_t first; /* where it goes, once it has room */
	int error;
	uint64_t took_ns;
};

struct tables {
	struct store *store;
	const struct unwind_memory *memory;
	struct pool *pool;
	struct lane *lane;
	struct reader *reader;        /* the lane's */
	struct executable *items;     /* as many as descriptors */
	uint32_t count, seen;         /* of items; those ever used, 0 included */
	struct executable *by_object; /* hash */
	uint32_t epoch, evict_epoch;
	uint64_t gives;       /* how often words were given back */
	size_t retired_words; /* of those retiring */
	bool stopped;
	bool said_full;
	bool taken_new; /* since tables_build_new() */
	struct build build;
	uint64_t rows, built, failed, evicted, build_ns;
};

/* Where it was just used, or published, is what eviction goes by. */
uint32_t tables_used(const struct tables *tables, uint32_t id);
/* True when a table may make way for one that is wanted. */
bool tables_evictable(const struct tables *tables, uint32_t id);
/* Unpublishes a table so that a better one of the same executable can take its place. */
void tables_replace(struct tables *tables, uint32_t id);
/* Unpublishes a table; its words come back at once where no walker can have seen it. */
void tables_evict(struct tables *tables, uint32_t id);
/* Copies a built table to its place, of as many words, and publishes it. */
void tables_publish(struct tables *tables, uint32_t id, const struct table *table, uint32_t first);
/* Says why there is no table. */
void tables_explain(struct tables *tables, uint32_t id, enum table_state why);

/* Takes back the words of those retiring; false while walkers may be reading them. */
bool tables_give_retired(struct tables *tables);

/* Places a table that was built, if one waits for room. */
void tables_settle(struct tables *tables);
/* Builds the next, unless one is under way. */
void tables_start(struct tables *tables);
