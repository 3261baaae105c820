/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table of sets: a thread is in one of the eight places of its set. A new thread takes the place
 * of the thread that was met longest ago.
 */
#include "kernel/run_times.h"

#include <stdbool.h>
#include <stdlib.h>

enum { SETS = 512, PLACES = 8 };

struct thread {
	u32 tid, image;          /* image: changes with each exec and each reuse of a pid */
	u64 round;               /* when it was met last; 0: a free place */
	bool is_known;           /* it was met before this round */
	u64 before_ns;           /* run time that earlier rounds have given to samples */
	u64 first_ns, latest_ns; /* its run time at samples of this round */
	u64 latest_mono_ns;      /* when the latest of them was taken */
	u64 ended_ns;            /* run time at the round's end; 0: not known */
	u64 count, done;         /* samples of this round, and those that have a value */
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

static struct thread *set_of(struct run_times *times, u32 tid)
{
	return times->sets[(tid * 2654435761u >> 16) % SETS];
}

/* NULL if the thread has no place. */
static struct thread *find(struct run_times *times, const struct tally_key *key)
{
	struct thread *set = set_of(times, key->tid);

	for (int i = 0; i < PLACES; i++)
		if (set[i].round && set[i].tid == key->tid && set[i].image == key->image)
			return &set[i];
	return NULL;
}

/* Makes a place for a thread; NULL if all places of its set are taken in this round. */
static struct thread *make_place(struct run_times *times, const struct tally_key *key)
{
	struct thread *set = set_of(times, key->tid);
	struct thread *oldest = set;

	for (int i = 1; i < PLACES; i++)
		if (set[i].round < oldest->round)
			oldest = &set[i];
	if (oldest->round == times->round)
		return NULL;
	*oldest = (struct thread){.tid = key->tid, .image = key->image};
	return oldest;
}

/* The run time up to which this round gives time to samples. If the thread is met for the first
 * time, the time after its latest sample is left to the next round. */
static u64 given_until(const struct thread *thread)
{
	return thread->is_known && thread->ended_ns ? thread->ended_ns : thread->latest_ns;
}

static void meet(struct run_times *times, const struct tally_key *key, const struct tally *tally)
{
	struct thread *thread = find(times, key);

	if (!thread)
		thread = make_place(times, key);
	if (!thread)
		return;
	if (thread->round != times->round) {
		thread->before_ns = given_until(thread);
		thread->is_known = thread->round;
		thread->round = times->round;
		thread->first_ns = tally->first_ran_ns;
		thread->latest_ns = thread->ended_ns = 0;
		thread->count = thread->done = 0;
	}
	if (tally->first_ran_ns < thread->first_ns)
		thread->first_ns = tally->first_ran_ns;
	if (tally->ran_ns > thread->latest_ns) {
		thread->latest_ns = tally->ran_ns;
		thread->latest_mono_ns = tally->last_ns;
	}
	thread->count += tally->count;
}

/* A thread that has run for less than at its sample is another thread with the same id. On a busy
 * machine the kernel is asked some time after the end of the half. So the run time is limited to
 * what the thread can have run until that end. */
static void note_end(struct run_times *times, const struct thread_ran *ran, u64 end_mono_ns)
{
	struct thread *set = set_of(times, ran->tid);

	for (int i = 0; i < PLACES; i++) {
		u64 could = set[i].latest_ns;

		if (set[i].round != times->round || set[i].tid != ran->tid || ran->ran_ns < could)
			continue;
		if (end_mono_ns > set[i].latest_mono_ns)
			could += end_mono_ns - set[i].latest_mono_ns;
		set[i].ended_ns = ran->ran_ns < could ? ran->ran_ns : could;
	}
}

/* How much run time all samples of this round together stand for. A thread that had run for longer
 * before is another thread. */
static u64 span_of(struct thread *thread, u64 period_ns)
{
	if (thread->is_known && thread->before_ns > given_until(thread))
		thread->is_known = false;
	return thread->is_known ? given_until(thread) - thread->before_ns
	                        : thread->latest_ns - thread->first_ns + period_ns;
}

static void weigh(struct run_times *times, const struct tally_key *key, struct tally *tally,
                  u64 period_ns)
{
	struct thread *thread = find(times, key);

	if (!thread || thread->round != times->round)
		return;
	u64 span = span_of(thread, period_ns), done = thread->done;

	thread->done += tally->count;
	/* What rounding takes from one sample it gives to another. */
	tally->value = span * thread->done / thread->count - span * done / thread->count;
}

void run_times_weigh(struct run_times *times, const struct drained *drained,
                     const struct threads_ran *ran, uint64_t end_mono_ns, uint64_t period_ns)
{
	times->round++;
	for (size_t i = 0; i < drained->tally_count; i++)
		if (drained->tally_keys[i].kind == KIND_cpu)
			meet(times, &drained->tally_keys[i], &drained->tallies[i]);
	for (size_t i = 0; i < ran->count; i++)
		note_end(times, &ran->all[i], end_mono_ns);
	for (size_t i = 0; i < drained->tally_count; i++)
		if (drained->tally_keys[i].kind == KIND_cpu)
			weigh(times, &drained->tally_keys[i], &drained->tallies[i], period_ns);
}
