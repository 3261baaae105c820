/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What these files share: tables.c (descriptors and their words), tables_take.c (executables and
 * their descriptors), tables_order.c (which table to build or evict next), tables_build.c
 * (building).
 */
#pragma once

#include "base/lane.h"
#include "base/shares.h"
#include "base/turns.h"
#include "unwind/chunks.h"
#include "unwind/pieces.h"
#include "unwind/pool.h"
#include "unwind/table.h"
#include "unwind/table_ask.h"
#include "unwind/tables.h"
#include "base/table.h"

/* What the daemon knows about an executable. Each piece has a number; the numbers of an executable
 * are consecutive. */
struct executable {
	uint32_t object, references;
	uint32_t first; /* number of the first piece */
	uint32_t user;  /* is charged for the numbers while it is mapped */
	struct pieces pieces;
	uint32_t unmapped_epoch; /* epoch since which there are no references */
	uint32_t missed;         /* how often a piece became wanted because walks missed it */
	UT_hash_handle hh;
};

enum piece_state {
	PIECE_WAITING,
	PIECE_BUILDING, /* or built, and waiting for room */
	PIECE_READY,
	PIECE_NOTHING,
	PIECE_RETIRING, /* unpublished; its words may still be read */
};

/* What the daemon knows about a descriptor. */
struct piece {
	struct executable *executable; /* NULL: the number is free */
	enum piece_state state;
	bool in_work;         /* a builder works on it */
	uint32_t base, words; /* in chunks, whole grains */
	uint32_t rows;
	uint32_t wanted;   /* frames that missed it since it was last published */
	uint32_t estimate; /* words that it will need */
	bool measured;     /* the estimate is the size that was built */
	bool followed; /* walks came through code that is not described, so that code is followed */
	bool late;     /* the first question was not answered in time, so the follower builds it */
	bool too_large;       /* larger than a whole chunk */
	bool again;           /* it is ready, and is built again with the followed code */
	uint32_t retry_epoch; /* it is not built before this epoch */
	uint32_t retries;     /* how often retry_epoch was set, up to a limit */
	uint64_t refused;     /* the value of tables->gives when there was no room for it */
};

/* A lane with a reader process. */
struct builder {
	struct job job;
	struct tables *tables;
	struct lane *lane;
	struct table_asker asker;
	uint32_t id; /* the piece that is being built, or was built and waits for room; 0: none */
	struct object *object; /* set while the worker thread builds */
	uint64_t user;         /* LANE_USER() */
	bool follow;
	struct range part;
	struct table *table;
	uint32_t base; /* place of the words, once there is room */
	bool exchange; /* other tables were evicted for it */
	int error;
	uint64_t took_ns;
};

/* One more builder follows code, and builds tables for which another builder got no answer in time.
 * Both take so long that all others would have to wait. */
enum { MAX_BUILDERS = 4, FOLLOWER = MAX_BUILDERS, BUILDERS };

struct tables {
	struct store *store;
	const struct unwind_memory *memory;
	struct chunks *chunks;
	struct pool *numbers;
	struct turns turns;   /* time of builders, by LANE_USER(); only builds that took long */
	struct shares shares; /* of the numbers, by user */
	struct piece *items;  /* by number, one for each descriptor */
	uint32_t count, seen; /* number of items; number of those ever used, item 0 included */
	struct executable *by_object; /* hash */
	uint32_t epoch, evict_epoch;
	uint64_t gives;       /* how often words were given back */
	size_t retired_words; /* of retiring pieces */
	bool stopped;
	bool said_full, said_large;
	bool ahead; /* one table that no walk has missed may be built */
	struct builder builders[BUILDERS];
	uint32_t builder_count; /* builders that may work at the same time, without the follower */
	uint64_t rows, built, failed, evicted, build_ns;
};

static inline bool piece_is_mapped(const struct piece *piece)
{
	return piece->executable && piece->executable->references;
}

struct unwind_table *tables_descriptor(const struct tables *tables, uint32_t id);
/* The epoch in which a table was last used or published; eviction goes by it. */
uint32_t tables_used(const struct tables *tables, uint32_t id);
/* Unpublishes a table so that a better table of the same piece can take its place. */
void tables_replace(struct tables *tables, uint32_t id);
/* Unpublishes a table. Its words are free at once if no walker can have seen it. */
void tables_evict(struct tables *tables, uint32_t id);
/* Copies a built table to its place, which has as many words, and publishes it. */
void tables_publish(struct tables *tables, uint32_t id, const struct table *table, uint32_t base);
/* Records why there is no table. */
void tables_explain(struct tables *tables, uint32_t id, enum table_state why);
/* Frees the words of retiring pieces. False: walkers may still be reading them. */
bool tables_give_retired(struct tables *tables);

/* Evicts the tables of executables that no process has mapped for long. */
void tables_forget_unmapped(struct tables *tables);

/* The table to evict first; 0 when none may be evicted. */
uint32_t tables_victim(const struct tables *tables);
/* Words that would be free in the best chunk if all evictable tables were evicted. */
size_t tables_possible_words(const struct tables *tables);
/* The piece to build next; 0 when there is none. */
uint32_t tables_pick(const struct tables *tables, bool follow);
/* Whether half of all room is free; the other half is for missed tables. */
bool tables_have_plenty(const struct tables *tables);
/* Whether a piece may be built before any walk has missed it: its file is small, or walks have
 * missed several other pieces of its file. */
bool tables_may_be_ahead(const struct piece *piece, bool plenty);

int tables_builders_init(struct tables *tables, uv_loop_t *loop);
void tables_builders_stop(struct tables *tables);
void tables_builders_release(struct tables *tables);
/* Ends reader processes that had nothing to do for a while. */
void tables_builders_rest(struct tables *tables);
/* Places tables that were built and wait for room. */
void tables_settle(struct tables *tables);
/* Gives idle builders work. */
void tables_start(struct tables *tables);
