/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table of sets: a thread is in one of the eight places of its set, and a new one takes the place
 * of the one that was met longest ago.
 */
#include "collect/run_times.h"

#include <stdbool.h>
#include <stdlib.h>

enum { SETS = 512, PLACES = 8 };

struct thread {
	u32 tid, image; /* of the program: changes with each exec and each reuse of a pid */
	u64 round;      /* when it was met last; 0: a free place */
	u64 before_ns;  /* how long it had run at the latest sample before this round, */
	bool is_known;  /* if it was met before */
	u64 first_ns, latest_ns; /* and in this round */
	u64 count, done;         /* samples of this round, and those that have their value */
};

struct run_times {
	u64 round; /* one for each half that was drained */
	struct thread sets[SETS][PLACES];
};

struct run_times *run_times_new(void)
{
	return calloc(1, sizeof(struct run_times));
}

void run_times_free(struct run_times *times)
{
	free(times);
}

static struct thread *set_of(struct run_times *times, const struct tally_key *key)
{
	return times->sets[(key->tid * 2654435761u ^ key->image) % SETS];
}

/* NULL where it has no place. */
static struct thread *find(struct run_times *times, const struct tally_key *key)
{
	struct thread *set = set_of(times, key);

	for (int i = 0; i < PLACES; i++)
		if (set[i].round && set[i].tid == key->tid && set[i].image == key->image)
			return &set[i];
	return NULL;
}

/* A place that is free now; NULL where all are taken in this round. */
static struct thread *make_place(struct run_times *times, const struct tally_key *key)
{
	struct thread *set = set_of(times, key);
	struct thread *oldest = set;

	for (int i = 1; i < PLACES; i++)
		if (set[i].round < oldest->round)
			oldest = &set[i];
	if (oldest->round == times->round)
		return NULL;
	*oldest = (struct thread){.tid = key->tid, .image = key->image};
	return oldest;
}

static void meet(struct run_times *times, const struct tally_key *key, const struct tally *tally)
{
	struct thread *thread = find(times, key);

	if (!thread)
		thread = make_place(times, key);
	if (!thread)
		return;
	if (thread->round != times->round) {
		thread->is_known = thread->round;
		thread->before_ns = thread->latest_ns;
		thread->round = times->round;
		thread->first_ns = tally->first_ran_ns;
		thread->latest_ns = 0;
		thread->count = thread->done = 0;
	}
	if (tally->first_ran_ns < thread->first_ns)
		thread->first_ns = tally->first_ran_ns;
	if (tally->ran_ns > thread->latest_ns)
		thread->latest_ns = tally->ran_ns;
	thread->count += tally->count;
}

/* What all samples of this round stand for. Who had run for longer before is another thread. */
static u64 span_of(const struct thread *thread, u64 period_ns)
{
	if (thread->is_known && thread->before_ns <= thread->first_ns)
		return thread->latest_ns - thread->before_ns;
	return thread->latest_ns - thread->first_ns + period_ns;
}

static void weigh(struct run_times *times, const struct tally_key *key, struct tally *tally,
                  u64 period_ns)
{
	struct thread *thread = find(times, key);

	if (!thread || thread->round != times->round)
		return;
	u64 span = span_of(thread, period_ns), done = thread->done;

	thread->done += tally->count;
	/* What is rounded off of one is another's. */
	tally->value = span * thread->done / thread->count - span * done / thread->count;
}

void run_times_weigh(struct run_times *times, const struct tally_key *keys, struct tally *tallies,
                     size_t count, uint64_t period_ns)
{
	times->round++;
	for (size_t i = 0; i < count; i++)
		if (keys[i].kind == KIND_cpu)
			meet(times, &keys[i], &tallies[i]);
	for (size_t i = 0; i < count; i++)
		if (keys[i].kind == KIND_cpu)
			weigh(times, &keys[i], &tallies[i], period_ns);
}
