/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "kernel/run_times.h"

#include "kernel/thread_sets.h"

#include <stdbool.h>
#include <stdlib.h>

struct thread {
	struct thread_place place;
	bool is_known;           /* it was met before this round */
	u64 before_ns;           /* run time that earlier rounds have given to samples */
	u64 first_ns, latest_ns; /* its run time at samples of this round */
	u64 latest_mono_ns;      /* when the latest of them was taken */
	u64 ended_ns;            /* run time at the round's end; 0: not known */
	u64 count, done;         /* samples of this round, and those that have a value */
};

struct run_times {
	u64 round; /* one for each half that was drained */
	struct thread_sets *threads;
};

struct run_times *run_times_new(void)
{
	_cleanup_(run_times_freep) struct run_times *times = calloc(1, sizeof(*times));

	if (!times)
		return NULL;
	times->threads = thread_sets_new(sizeof(struct thread));
	return times->threads ? TAKE_PTR(times) : NULL;
}

void run_times_free(struct run_times *times)
{
	if (times)
		thread_sets_free(times->threads);
	free(times);
}

/* The run time up to which this round gives time to samples. If the thread is met for the first
 * time, the time after its latest sample is left to the next round. */
static u64 given_until(const struct thread *thread)
{
	return thread->is_known && thread->ended_ns ? thread->ended_ns : thread->latest_ns;
}

static void meet(struct run_times *times, const struct tally_key *key, const struct tally *tally)
{
	struct thread *thread = thread_sets_find_or_add(times->threads, key, times->round);

	if (!thread)
		return;
	if (thread->place.round != times->round) {
		thread->before_ns = given_until(thread);
		thread->is_known = thread->place.round;
		thread->place.round = times->round;
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
	for (size_t i = 0; i < THREAD_SET_PLACES; i++) {
		struct thread *thread = thread_sets_place_of(times->threads, ran->tid, i);
		u64 could = thread->latest_ns;

		if (thread->place.round != times->round || thread->place.tid != ran->tid ||
		    ran->ran_ns < could)
			continue;
		if (end_mono_ns > thread->latest_mono_ns)
			could += end_mono_ns - thread->latest_mono_ns;
		thread->ended_ns = ran->ran_ns < could ? ran->ran_ns : could;
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
	struct thread *thread = thread_sets_find(times->threads, key);

	if (!thread || thread->place.round != times->round)
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
