/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What tables.c (descriptors and their words), tables_take.c (executables and their descriptors),
 * tables_order.c (which to build next, which makes way), tables_build.c (building) share.
 */
#pragma once

#include "base/lane.h"
#include "base/shares.h"
#include "base/turns.h"
#include "reader/reader.h"
#include "unwind/chunks.h"
#include "unwind/pieces.h"
#include "unwind/pool.h"
#include "unwind/table.h"
#include "unwind/tables.h"
#include "base/table.h"

/* What the daemon knows of an executable: a number for each piece, one after the other. */
struct executable {
	uint32_t object, references;
	uint32_t first; /* number */
	uint32_t user;  /* who pays for the numbers while it is mapped */
	struct pieces pieces;
	uint32_t unmapped_epoch; /* since when there are no references */
	uint32_t missed;         /* how often a piece of it was missed that was not before */
	UT_hash_handle hh;
};

enum piece_state {
	PIECE_WAITING,
	PIECE_BUILDING, /* or built, and waiting for room */
	PIECE_READY,
	PIECE_NOTHING,
	PIECE_RETIRING, /* unpublished; its words may still be read */
};

/* What it knows of a descriptor. */
struct piece {
	struct executable *executable; /* NULL: the number is free */
	enum piece_state state;
	bool in_work;         /* a builder has it */
	uint32_t base, words; /* in chunks, whole grains */
	uint32_t rows;
	uint32_t wanted;   /* frames that missed it, since it was there last */
	uint32_t estimate; /* words it will need */
	bool measured;     /* it needed as many when it was built */
	bool followed;     /* walks came through code that is not described: so that is followed */
	bool late;         /* there was no answer the first time: the follower waits for it */
	bool too_large;    /* for a chunk, whatever else is in it */
	bool again;        /* ready, and to be built again for that reason */
	uint32_t retry_epoch; /* not built before */
	uint32_t retries;     /* how often that was set, up to a limit */
	uint64_t refused;     /* tables->gives when there was no room for it */
};

/* A lane with a reader process. */
struct builder {
	struct job job;
	struct tables *tables;
	struct lane *lane;
	struct reader *reader;
	uint32_t id;           /* what it builds, or has built and no room for; 0: nothing */
	struct object *object; /* while the worker has it */
	uint64_t user;         /* LANE_USER() */
	bool follow;
	struct range part;
	struct table *table;
	uint32_t base; /* where it goes, once it has room */
	bool exchange; /* others have made way for it */
	int error;
	uint64_t took_ns;
};

/* One beside them follows code, and reads what others had no answer about, which takes so long that
 * all others would wait. */
enum { MAX_BUILDERS = 4, FOLLOWER = MAX_BUILDERS, BUILDERS };

struct tables {
	struct store *store;
	const struct unwind_memory *memory;
	struct chunks *chunks;
	struct pool *numbers;
	struct turns turns;           /* of builders, by LANE_USER(): only what took long */
	struct shares shares;         /* of the numbers, by user */
	struct piece *items;          /* by number, as many as descriptors */
	uint32_t count, seen;         /* of items; those ever used, 0 included */
	struct executable *by_object; /* hash */
	uint32_t epoch, evict_epoch;
	uint64_t gives;       /* how often words were given back */
	size_t retired_words; /* of those retiring */
	bool stopped;
	bool said_full;
	bool ahead; /* one that nobody has missed may be built */
	struct builder builders[BUILDERS];
	uint32_t builder_count; /* that may work at the same time, without the follower */
	uint64_t rows, built, failed, evicted, build_ns;
};

static inline bool piece_is_mapped(const struct piece *piece)
{
	return piece->executable && piece->executable->references;
}

struct unwind_table *tables_descriptor(const struct tables *tables, uint32_t id);
/* Where it was just used, or published, is what eviction goes by. */
uint32_t tables_used(const struct tables *tables, uint32_t id);
/* Unpublishes a table so that a better one of the same piece can take its place. */
void tables_replace(struct tables *tables, uint32_t id);
/* Unpublishes a table; its words come back at once where no walker can have seen it. */
void tables_evict(struct tables *tables, uint32_t id);
/* Copies a built table to its place, of as many words, and publishes it. */
void tables_publish(struct tables *tables, uint32_t id, const struct table *table, uint32_t base);
/* Says why there is no table. */
void tables_explain(struct tables *tables, uint32_t id, enum table_state why);
/* Takes back the words of those retiring; false while walkers may be reading them. */
bool tables_give_retired(struct tables *tables);

/* The tables of what no process has mapped for long make room. */
void tables_forget_unmapped(struct tables *tables);

/* The table that makes way first; 0 when none may. */
uint32_t tables_victim(const struct tables *tables);
/* Words that would be free in one chunk, the best, if all made way that may. */
size_t tables_possible_words(const struct tables *tables);
/* What to build next; 0 when there is nothing. */
uint32_t tables_pick(const struct tables *tables, bool follow);
/* Half of all room is free: the other half is for what is missed. */
bool tables_have_plenty(const struct tables *tables);
/* Small enough to be built before anything walks through it, or of a file of which walks have
 * missed several others. */
bool tables_may_be_ahead(const struct piece *piece, bool plenty);

int tables_builders_init(struct tables *tables, uv_loop_t *loop);
void tables_builders_stop(struct tables *tables);
void tables_builders_release(struct tables *tables);
/* Ends processes that have had nothing to do for a while. */
void tables_builders_rest(struct tables *tables);
/* Places tables that were built, and wait for room. */
void tables_settle(struct tables *tables);
/* Builds the next, by whoever has nothing to do. */
void tables_start(struct tables *tables);
