/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Slots and runs. A slot is one word and changes at once; a run is written before the first slot
 * names it, never after, and is given back when no slot does and no walker can be reading it. The
 * kernel half clears the slot of a process that calls exec, so what a slot was given is kept here.
 */
#include "unwind/spaces.h"

#include "proc/bias.h"
#include "unwind/pool.h"

#include <errno.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum {
	MAPPING_GRAIN = 4,
	PID_MAX = (1 << 22) - 1,
};

struct run {
	uint64_t serial; /* of the mapping sets it was made of */
	uint32_t references, first, count;
	struct run *next; /* when retired */
	UT_hash_handle hh;
};

/* Whose a slot is, though it may be cleared. */
struct holder {
	uint32_t pid; /* 0: nobody's */
	struct run *run;
};

struct spaces {
	struct tables *tables;
	struct store *store;
	const struct unwind_memory *memory;
	size_t slot_count, mapping_count;
	struct pool *pool;
	struct holder *places; /* as many as slots */
	struct run *by_serial; /* hash */
	struct run *retired;
	uint64_t processes, mappings, refused, freed;
};

struct spaces *spaces_new(struct tables *tables, struct store *store,
                          const struct unwind_memory *memory)
{
	struct spaces *spaces = calloc(1, sizeof(*spaces));
	size_t reachable =
		memory->mapping_count < SLOT_FIRST_MAX ? memory->mapping_count : SLOT_FIRST_MAX;

	if (!spaces)
		return NULL;
	spaces->tables = tables;
	spaces->store = store;
	spaces->memory = memory;
	spaces->slot_count = memory->slot_count;
	spaces->pool = pool_new(reachable, MAPPING_GRAIN);
	spaces->places = calloc(memory->slot_count + 1, sizeof(*spaces->places));
	if (!spaces->pool || !spaces->places) {
		spaces_free(spaces);
		return NULL;
	}
	return spaces;
}

static void free_retired(struct spaces *spaces)
{
	struct run *run;

	while ((run = spaces->retired)) {
		spaces->retired = run->next;
		for (uint32_t i = 0; i < run->count; i++)
			tables_give(spaces->tables, spaces->memory->mappings[run->first + i].table);
		pool_give(spaces->pool, run->first, run->count);
		spaces->mappings -= run->count;
		spaces->freed++;
		free(run);
	}
}

void spaces_free(struct spaces *spaces)
{
	struct run *run, *next;

	if (!spaces)
		return;
	free_retired(spaces);
	HASH_ITER (hh, spaces->by_serial, run, next) {
		HASH_DEL(spaces->by_serial, run);
		free(run);
	}
	pool_free(spaces->pool);
	free(spaces->places);
	free(spaces);
}

static void fill_mapping(struct spaces *spaces, const struct proc_mapping *from,
                         struct unwind_mapping *to)
{
	_cleanup_(object_unrefp) struct object *object =
		from->object ? store_get(spaces->store, from->object) : NULL;

	*to = (struct unwind_mapping){.start = from->start, .end = from->end};
	if (!object || !bias_of_mapping(object, from, &to->bias))
		return;
	to->table = tables_take(spaces->tables, object);
	spaces->refused += !to->table;
	if (to->table)
		tables_place(spaces->tables, to);
}

static struct run *make_run(struct spaces *spaces, const struct mapping_set *set)
{
	size_t count = mapping_set_count(set), first;
	struct run *run;

	if (count > SLOT_COUNT_MAX)
		return NULL;
	first = pool_take(spaces->pool, count);
	if (!first)
		return NULL;
	run = calloc(1, sizeof(*run));
	if (run) {
		run->serial = mapping_set_serial(set);
		HASH_ADD(hh, spaces->by_serial, serial, sizeof(run->serial), run);
	}
	if (!run || !run->hh.tbl) {
		pool_give(spaces->pool, first, count);
		free(run);
		return NULL;
	}
	run->first = (uint32_t)first;
	run->count = (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		fill_mapping(spaces, mapping_set_at(set, i), &spaces->memory->mappings[first + i]);
	spaces->mappings += count;
	return run;
}

static struct run *find_run(struct spaces *spaces, const struct mapping_set *set)
{
	uint64_t serial = mapping_set_serial(set);
	struct run *run;

	HASH_FIND(hh, spaces->by_serial, &serial, sizeof(serial), run);
	return run ? run : make_run(spaces, set);
}

/* After the slot that named it changed. */
static void unref_run(struct spaces *spaces, struct run *run)
{
	if (!run || --run->references > 0)
		return;
	HASH_DEL(spaces->by_serial, run);
	run->next = spaces->retired;
	spaces->retired = run;
}

/* The process's place, else a free one of its bucket, else NULL. */
static struct holder *find_place(const struct spaces *spaces, uint32_t pid)
{
	size_t buckets = spaces->slot_count / SLOTS_PER_BUCKET;
	struct holder *bucket, *unused = NULL;

	if (!buckets)
		return NULL;
	bucket = &spaces->places[(pid & (buckets - 1)) * SLOTS_PER_BUCKET];
	for (size_t i = 0; i < SLOTS_PER_BUCKET; i++) {
		if (bucket[i].pid == pid)
			return &bucket[i];
		if (!bucket[i].pid && !unused)
			unused = &bucket[i];
	}
	return unused;
}

static uint64_t *slot_of(const struct spaces *spaces, const struct holder *place)
{
	return &spaces->memory->slots[place - spaces->places];
}

static void publish(struct spaces *spaces, struct holder *place, uint32_t pid, struct run *run)
{
	struct holder old = *place;
	uint64_t value = (uint64_t)pid << SLOT_PID_SHIFT |
	                 (uint64_t)run->first << SLOT_FIRST_SHIFT | run->count;

	run->references++;
	*place = (struct holder){pid, run};
	__atomic_store_n(slot_of(spaces, place), value, __ATOMIC_RELEASE);
	spaces->processes += !old.pid;
	unref_run(spaces, old.run);
}

static void withdraw(struct spaces *spaces, struct holder *place)
{
	struct run *old = place->run;

	if (!place->pid)
		return;
	__atomic_store_n(slot_of(spaces, place), 0, __ATOMIC_RELEASE);
	*place = (struct holder){0};
	spaces->processes--;
	spaces->freed++;
	unref_run(spaces, old);
}

/* Others with the same low bits of the pid count as well: they are only left out for a moment. */
static bool called_exec(const struct spaces *spaces, uint32_t pid, uint64_t after_mono_ns)
{
	return __atomic_load_n(&spaces->memory->execs[pid & (EXEC_TIMES - 1)], __ATOMIC_SEQ_CST) >
	       after_mono_ns;
}

int spaces_set(struct spaces *spaces, uint32_t pid, const struct mapping_set *set,
               uint64_t told_mono_ns)
{
	struct holder *place = find_place(spaces, pid);
	struct run *run;

	if (!pid || pid > PID_MAX)
		return -EINVAL;
	if (!set || !mapping_set_count(set)) {
		if (place)
			withdraw(spaces, place);
		return 0;
	}
	if (called_exec(spaces, pid, told_mono_ns))
		return -EAGAIN;
	run = place ? find_run(spaces, set) : NULL;
	if (!run) {
		if (place)
			withdraw(spaces, place);
		spaces->refused++;
		return -ENOSPC;
	}
	publish(spaces, place, pid, run);
	/* Either the time of an exec is seen here, or the kernel half clears the slot after the
	 * store above: it writes the two in the other order. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!called_exec(spaces, pid, told_mono_ns))
		return 0;
	__atomic_store_n(slot_of(spaces, place), 0, __ATOMIC_RELEASE);
	return -EAGAIN;
}

void spaces_each(struct spaces *spaces, space_fn *fn, void *ctx)
{
	for (size_t i = 0; i < spaces->slot_count; i++) {
		if (spaces->places[i].pid)
			fn(spaces->places[i].pid, ctx);
	}
}

void spaces_each_cleared(struct spaces *spaces, space_fn *fn, void *ctx)
{
	for (size_t i = 0; i < spaces->slot_count; i++) {
		const struct holder *place = &spaces->places[i];

		if (place->pid && !__atomic_load_n(&spaces->memory->slots[i], __ATOMIC_RELAXED))
			fn(place->pid, ctx);
	}
}

void spaces_reclaim(struct spaces *spaces)
{
	if (spaces->retired && unwind_memory_quiet(spaces->memory))
		free_retired(spaces);
}

uint64_t spaces_freed(const struct spaces *spaces)
{
	return spaces->freed;
}

void spaces_get_stats(const struct spaces *spaces, struct unwinder_stats *stats)
{
	stats->processes = spaces->processes;
	stats->mappings = spaces->mappings;
	stats->processes_refused = spaces->refused;
}
