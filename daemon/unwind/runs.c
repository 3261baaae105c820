/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A run is written before the first slot names it, never after. It is given back when no slot names
 * it and no walker can be reading it. Until then its owner is charged for it.
 */
#include "unwind/runs.h"

#include "base/shares.h"
#include "proc/bias.h"
#include "unwind/pool.h"
#include "base/table.h"

enum {
	MAPPING_GRAIN = 4,
	SMALL_RUN = 64, /* mappings, of a program with some 20 libraries */
};

struct run {
	uint64_t serial; /* serial number of the mapping sets that it was made of */
	uint32_t references, first, count;
	uint32_t user;    /* user that is charged for it */
	struct run *next; /* in the list of retired runs */
	UT_hash_handle hh;
};

struct runs {
	struct tables *tables;
	struct store *store;
	const struct unwind_memory *memory;
	struct pool *pool;
	struct shares shares;  /* by user, in mappings */
	struct run *by_serial; /* hash */
	struct run *retired;
	uint64_t mappings, cut, refused, freed;
};

uint32_t run_owner_get(struct run_owner *owner, const struct unwind_memory *memory)
{
	if (!owner->asked)
		owner->user = memory->owner ? memory->owner(owner->pid) : owner_read(owner->pid);
	owner->asked = true;
	return owner->user;
}

struct runs *runs_new(struct tables *tables, struct store *store,
                      const struct unwind_memory *memory)
{
	struct runs *runs = calloc(1, sizeof(*runs));
	size_t reachable =
		memory->mapping_count < SLOT_FIRST_MAX ? memory->mapping_count : SLOT_FIRST_MAX;

	if (!runs)
		return NULL;
	runs->tables = tables;
	runs->store = store;
	runs->memory = memory;
	runs->shares.whole = reachable;
	runs->pool = pool_new(reachable, MAPPING_GRAIN);
	if (!runs->pool) {
		free(runs);
		return NULL;
	}
	return runs;
}

/* Elements that the pool takes for a run. */
static size_t cost(size_t count)
{
	return (count + MAPPING_GRAIN - 1) / MAPPING_GRAIN * MAPPING_GRAIN;
}

static void free_retired(struct runs *runs)
{
	struct run *run;

	while ((run = runs->retired)) {
		runs->retired = run->next;
		for (uint32_t i = 0; i < run->count; i++)
			tables_give(runs->tables, runs->memory->mappings[run->first + i].table);
		pool_give(runs->pool, run->first, run->count);
		shares_give(&runs->shares, run->user, cost(run->count));
		runs->mappings -= run->count;
		runs->freed++;
		free(run);
	}
}

void runs_free(struct runs *runs)
{
	struct run *run, *next;

	if (!runs)
		return;
	free_retired(runs);
	HASH_ITER (hh, runs->by_serial, run, next) {
		HASH_DEL(runs->by_serial, run);
		free(run);
	}
	shares_clear(&runs->shares);
	pool_free(runs->pool);
	free(runs);
}

/* Takes the numbers of a file's tables, which are charged to a user. That is the process's owner if
 * it is known, else the user that mapped the file first, for which no look-up is needed. If that
 * user's share is full, the process's owner is looked up, so that no user can deny tables to others
 * by mapping their files first. */
static uint32_t take_table(struct runs *runs, const struct object *object, struct run_owner *owner)
{
	bool known = owner->asked && owner->user != OWNER_UNKNOWN;
	uint32_t table = tables_take(runs->tables, object, known ? owner->user : object->user);

	if (!table && !owner->asked && run_owner_get(owner, runs->memory) != object->user)
		table = tables_take(runs->tables, object, owner->user);
	return table;
}

static void fill_mapping(struct runs *runs, const struct proc_mapping *from,
                         struct run_owner *owner, struct unwind_mapping *to)
{
	_cleanup_(object_unrefp) struct object *object =
		from->object ? store_get(runs->store, from->object) : NULL;

	*to = (struct unwind_mapping){.start = from->start, .end = from->end};
	if (!object || !bias_of_mapping(object, from, &to->bias))
		return;
	to->table = take_table(runs, object, owner);
	runs->refused += !to->table;
	if (to->table)
		tables_place(runs->tables, to);
}

/* Takes elements for that many mappings and charges the owner; 0 when there is no room, or the
 * owner's share is full. While there is plenty of room, the owner is not looked up for small runs,
 * which are then charged to OWNER_UNKNOWN. */
static size_t take_room(struct runs *runs, size_t count, struct run_owner *owner)
{
	uint32_t user = owner->user;
	size_t first;

	if (count >= SMALL_RUN || runs->shares.taken > runs->shares.whole / 4)
		user = run_owner_get(owner, runs->memory);
	if (!shares_take(&runs->shares, user, cost(count)))
		return 0;
	first = pool_take(runs->pool, count);
	if (!first)
		shares_give(&runs->shares, user, cost(count));
	return first;
}

static struct run *add_run(struct runs *runs, uint64_t serial)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->serial = serial;
	HASH_ADD(hh, runs->by_serial, serial, sizeof(run->serial), run);
	if (run->hh.tbl)
		return run;
	free(run);
	return NULL;
}

static struct run *make_run(struct runs *runs, const struct mapping_set *set,
                            struct run_owner *owner)
{
	size_t all = mapping_set_count(set);
	size_t count = all < MAX_RUN_MAPPINGS ? all : MAX_RUN_MAPPINGS;
	size_t first = take_room(runs, count, owner);
	struct run *run = first ? add_run(runs, mapping_set_serial(set)) : NULL;

	if (!run) {
		if (first) {
			pool_give(runs->pool, first, count);
			shares_give(&runs->shares, owner->user, cost(count));
		}
		return NULL;
	}
	run->first = (uint32_t)first;
	run->count = (uint32_t)count;
	run->user = owner->user;
	for (size_t i = 0; i < count; i++)
		fill_mapping(runs, mapping_set_at(set, i), owner,
		             &runs->memory->mappings[first + i]);
	runs->mappings += count;
	runs->cut += all - count;
	return run;
}

struct run *runs_take(struct runs *runs, const struct mapping_set *set, struct run_owner *owner)
{
	uint64_t serial = mapping_set_serial(set);
	struct run *run;

	HASH_FIND(hh, runs->by_serial, &serial, sizeof(serial), run);
	if (!run)
		run = make_run(runs, set, owner);
	if (run)
		run->references++;
	return run;
}

void runs_give(struct runs *runs, struct run *run)
{
	if (!run || --run->references > 0)
		return;
	HASH_DEL(runs->by_serial, run);
	run->next = runs->retired;
	runs->retired = run;
}

uint64_t run_word(const struct run *run)
{
	return (uint64_t)run->first << SLOT_FIRST_SHIFT | run->count;
}

void runs_reclaim(struct runs *runs)
{
	if (runs->retired && unwind_memory_quiet(runs->memory))
		free_retired(runs);
}

uint64_t runs_freed(const struct runs *runs)
{
	return runs->freed;
}

void runs_get_stats(const struct runs *runs, struct unwinder_stats *stats)
{
	stats->mappings = runs->mappings;
	stats->mappings_cut = runs->cut;
	stats->processes_refused += runs->refused;
}
