/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A slot is one word and changes atomically. The kernel half clears the slot of a process that
 * calls exec, so what a slot was given is also kept here.
 *
 * A bucket has few slots, and a user that starts processes until their pids fall into it could take
 * all of them. In a full bucket, the user with the most slots therefore makes way for others.
 */
#include "unwind/spaces.h"

#include "bpf/execs.h"
#include "unwind/runs.h"

#include <errno.h>
#include <stdlib.h>

enum { PID_MAX = (1 << 22) - 1 };

/* The owner of a slot, even when the slot is cleared. */
struct holder {
	struct run_owner owner; /* pid 0: the slot is free */
	struct run *run;
};

struct spaces {
	const struct unwind_memory *memory;
	size_t slot_count;
	struct runs *runs;
	struct holder *places; /* one for each slot */
	space_fn *evicted;
	void *ctx;
	uint64_t processes, refused, freed;
};

struct spaces *spaces_new(struct tables *tables, struct store *store,
                          const struct unwind_memory *memory, space_fn *evicted, void *ctx)
{
	struct spaces *spaces = calloc(1, sizeof(*spaces));

	if (!spaces)
		return NULL;
	spaces->memory = memory;
	spaces->evicted = evicted;
	spaces->ctx = ctx;
	spaces->slot_count = memory->slot_count;
	spaces->runs = runs_new(tables, store, memory);
	spaces->places = calloc(memory->slot_count + 1, sizeof(*spaces->places));
	if (!spaces->runs || !spaces->places) {
		spaces_free(spaces);
		return NULL;
	}
	return spaces;
}

void spaces_free(struct spaces *spaces)
{
	if (!spaces)
		return;
	runs_free(spaces->runs);
	free(spaces->places);
	free(spaces);
}

/* NULL when there are no slots at all. */
static struct holder *bucket_of(const struct spaces *spaces, uint32_t pid)
{
	size_t buckets = spaces->slot_count / SLOTS_PER_BUCKET;

	return buckets ? &spaces->places[(pid & (buckets - 1)) * SLOTS_PER_BUCKET] : NULL;
}

/* The process's place, or a free place in its bucket, or NULL. */
static struct holder *find_place(const struct spaces *spaces, uint32_t pid)
{
	struct holder *bucket = bucket_of(spaces, pid), *unused = NULL;

	for (size_t i = 0; bucket && i < SLOTS_PER_BUCKET; i++) {
		if (bucket[i].owner.pid == pid)
			return &bucket[i];
		if (!bucket[i].owner.pid && !unused)
			unused = &bucket[i];
	}
	return unused;
}

static uint64_t *slot_of(const struct spaces *spaces, const struct holder *place)
{
	return &spaces->memory->slots[place - spaces->places];
}

static void publish(struct spaces *spaces, struct holder *place, const struct run_owner *owner,
                    struct run *run)
{
	struct holder old = *place;

	*place = (struct holder){*owner, run};
	__atomic_store_n(slot_of(spaces, place),
	                 (uint64_t)owner->pid << SLOT_PID_SHIFT | run_word(run), __ATOMIC_RELEASE);
	spaces->processes += !old.owner.pid;
	runs_give(spaces->runs, old.run);
}

static void withdraw(struct spaces *spaces, struct holder *place)
{
	struct run *old = place->run;

	if (!place->owner.pid)
		return;
	__atomic_store_n(slot_of(spaces, place), 0, __ATOMIC_RELEASE);
	*place = (struct holder){0};
	spaces->processes--;
	spaces->freed++;
	runs_give(spaces->runs, old);
}

static size_t count_of(const struct holder *bucket, uint32_t user)
{
	size_t count = 0;

	for (size_t i = 0; i < SLOTS_PER_BUCKET; i++)
		count += bucket[i].owner.user == user;
	return count;
}

/* One of the places of the user that has the most in a full bucket. */
static struct holder *find_most(const struct spaces *spaces, struct holder *bucket)
{
	struct holder *most = &bucket[0];

	for (size_t i = 0; i < SLOTS_PER_BUCKET; i++)
		run_owner_get(&bucket[i].owner, spaces->memory);
	for (size_t i = 1; i < SLOTS_PER_BUCKET; i++)
		if (count_of(bucket, bucket[i].owner.user) > count_of(bucket, most->owner.user))
			most = &bucket[i];
	return most;
}

/* Finds a place to take over in a full bucket; it is not freed yet. NULL if the user with the most
 * places would then have fewer than the new process's user, because the two would drive each other
 * out for ever. */
static struct holder *find_other(const struct spaces *spaces, struct run_owner *owner)
{
	struct holder *bucket = bucket_of(spaces, owner->pid);
	struct holder *most = bucket ? find_most(spaces, bucket) : NULL;

	if (!most || count_of(bucket, run_owner_get(owner, spaces->memory)) + 1 >=
	                     count_of(bucket, most->owner.user))
		return NULL;
	return most;
}

/* Removes another process from a place that is taken over. */
static void clear(struct spaces *spaces, struct holder *place, uint32_t pid)
{
	uint32_t old = place->owner.pid;

	if (!old || old == pid)
		return;
	withdraw(spaces, place);
	spaces->refused++;
	spaces->evicted(old, spaces->ctx);
}

/* The process's owner at the time when its slot was filled. Unknown if an exec has cleared the
 * slot, because the new program may belong to another user. */
static struct run_owner known_owner(const struct spaces *spaces, const struct holder *place,
                                    uint32_t pid)
{
	if (place && place->owner.pid == pid &&
	    __atomic_load_n(slot_of(spaces, place), __ATOMIC_RELAXED))
		return place->owner;
	return (struct run_owner){.pid = pid, .user = OWNER_UNKNOWN};
}

int spaces_set(struct spaces *spaces, uint32_t pid, const struct mapping_set *set,
               uint64_t told_mono_ns)
{
	struct holder *place = find_place(spaces, pid);
	struct run_owner owner = known_owner(spaces, place, pid);
	struct run *run;

	if (!pid || pid > PID_MAX)
		return -EINVAL;
	if (!set || !mapping_set_count(set)) {
		if (place)
			withdraw(spaces, place);
		return 0;
	}
	if (execs_since(spaces->memory->execs, pid, told_mono_ns))
		return -EAGAIN;
	if (!place)
		place = find_other(spaces, &owner);
	run = place ? runs_take(spaces->runs, set, &owner) : NULL;
	if (!run) {
		if (place && place->owner.pid == pid)
			withdraw(spaces, place);
		spaces->refused++;
		return -ENOSPC;
	}
	clear(spaces, place, pid);
	publish(spaces, place, &owner, run);
	/* Either the time of an exec is seen here, or the kernel half clears the slot after the
	 * store above, because it writes the two in the opposite order. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!execs_since(spaces->memory->execs, pid, told_mono_ns))
		return 0;
	__atomic_store_n(slot_of(spaces, place), 0, __ATOMIC_RELEASE);
	return -EAGAIN;
}

void spaces_each(struct spaces *spaces, space_fn *fn, void *ctx)
{
	for (size_t i = 0; i < spaces->slot_count; i++) {
		if (spaces->places[i].owner.pid)
			fn(spaces->places[i].owner.pid, ctx);
	}
}

void spaces_each_cleared(struct spaces *spaces, space_fn *fn, void *ctx)
{
	for (size_t i = 0; i < spaces->slot_count; i++) {
		const struct holder *place = &spaces->places[i];

		if (place->owner.pid &&
		    !__atomic_load_n(&spaces->memory->slots[i], __ATOMIC_RELAXED))
			fn(place->owner.pid, ctx);
	}
}

void spaces_reclaim(struct spaces *spaces)
{
	runs_reclaim(spaces->runs);
}

uint64_t spaces_freed(const struct spaces *spaces)
{
	return spaces->freed + runs_freed(spaces->runs);
}

void spaces_get_stats(const struct spaces *spaces, struct unwinder_stats *stats)
{
	stats->processes = spaces->processes;
	stats->processes_refused += spaces->refused;
	runs_get_stats(spaces->runs, stats);
}
