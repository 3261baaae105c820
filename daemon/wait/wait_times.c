/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums are kept from when a thread was met first. So a part that was put in the wrong half, or as
 * the wrong one of the two, is made up for by the next.
 */
#include "wait/wait_times.h"

#include "kernel/thread_sets.h"

#include <stdlib.h>

/* Less is left where halves do not end exactly between two waits. */
enum { LEAST_LEFT_NS = 1000 * 1000 };

/* The switch that is under way when an account is read may be counted already, or not yet. */
enum { EDGE = 2 };

/* The two ways of not running. */
struct waited {
	u64 slept, delayed; /* nanoseconds */
};

struct thread {
	struct thread_place place;
	bool is_known;       /* it was met before this round */
	struct waited base;  /* by the scheduler, when it was met first */
	struct waited given; /* to samples since then */
	/* By the scheduler, at the latest sample of this round; 0: not known. */
	struct waited latest;
	u64 latest_mono_ns;
	struct waited sampled; /* by the samples of this round */
	struct waited wanted;  /* what they are to stand for */
	/* The same of the number of waits, modulo 2^32. */
	u32 counted;  /* by the scheduler, as far as samples stand for it */
	u32 switches; /* by the scheduler, at the latest sample of this round */
	u64 sampled_count, wanted_count;
	u64 weighed; /* of sampled_count: tallies that have been gone through */
	u64 left_ns;
	size_t tally; /* the latest of them */
};

struct wait_times {
	u64 round; /* one for each half that was drained */
	struct thread_sets *threads;
};

struct wait_times *wait_times_new(void)
{
	_cleanup_(wait_times_freep) struct wait_times *times = calloc(1, sizeof(*times));

	if (!times)
		return NULL;
	times->threads = thread_sets_new(sizeof(struct thread));
	return times->threads ? TAKE_PTR(times) : NULL;
}

void wait_times_free(struct wait_times *times)
{
	if (times)
		thread_sets_free(times->threads);
	free(times);
}

static u64 sum(const struct waited *waited)
{
	return waited->slept + waited->delayed;
}

static u64 less(u64 from, u64 what)
{
	return from > what ? from - what : 0;
}

static u64 min(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* The one of the two that the time of a tally is part of. */
static u64 *part_of(struct waited *waited, const struct tally_key *key)
{
	bool is_delayed = WAIT_STATE_OF(key->detail) == WAIT_RUNNABLE;

	return is_delayed ? &waited->delayed : &waited->slept;
}

static void note_account(struct thread *thread, const struct tally *tally, size_t at)
{
	if (tally->last_ns < thread->latest_mono_ns)
		return;
	thread->latest_mono_ns = tally->last_ns;
	thread->tally = at;
	thread->latest = (struct waited){
		.slept = less(tally->waited_ns, tally->delayed_ns),
		.delayed = tally->waited_ns ? tally->delayed_ns : 0,
	};
	thread->switches = tally->switches;
}

static void meet(struct wait_times *times, const struct drained *drained, size_t at)
{
	const struct tally_key *key = &drained->tally_keys[at];
	struct thread *thread = thread_sets_find_or_add(times->threads, key, times->round);

	if (!thread)
		return;
	if (thread->place.round != times->round) {
		thread->is_known = sum(&thread->base);
		thread->place.round = times->round;
		thread->latest = thread->sampled = (struct waited){0};
		thread->latest_mono_ns = thread->left_ns = 0;
		thread->sampled_count = thread->weighed = 0;
	}
	*part_of(&thread->sampled, key) += drained->tallies[at].value;
	thread->sampled_count += drained->tallies[at].count;
	note_account(thread, &drained->tallies[at], at);
}

/* What the thread has waited since it was met first and has not been given yet. Where none of its
 * samples is of one of the two, the other has all. */
static struct waited owed(const struct thread *thread)
{
	u64 all = less(sum(&thread->latest) - sum(&thread->base), sum(&thread->given));
	u64 delayed = less(thread->latest.delayed, thread->base.delayed + thread->given.delayed);

	if (!thread->sampled.delayed)
		delayed = 0;
	else if (!thread->sampled.slept || delayed > all)
		delayed = all;
	return (struct waited){.slept = all - delayed, .delayed = delayed};
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* What is raised no further is given up, as of time. */
static void settle_count(struct thread *thread)
{
	s32 due = (s32)(thread->switches - thread->counted);

	thread->wanted_count = thread->sampled_count;
	/* No sample of this round can stand for what is due. */
	if (thread->is_known && !thread->sampled_count)
		return;
	if (thread->is_known && distance(due > 0 ? (u32)due : 0, thread->sampled_count) <= EDGE) {
		thread->counted += (u32)thread->sampled_count;
		return;
	}
	if (thread->is_known)
		thread->wanted_count =
			min(due > 0 ? (u32)due : 0, thread->sampled_count * WAIT_RAISE);
	thread->counted = thread->switches;
}

static void settle(struct thread *thread, u64 span_ns)
{
	struct waited due;

	thread->wanted = thread->sampled;
	/* A thread that had waited for longer before is another thread. */
	if (thread->is_known && sum(&thread->latest) && sum(&thread->latest) < sum(&thread->base))
		thread->is_known = false;
	settle_count(thread);
	if (!thread->is_known) {
		thread->base = thread->latest;
		thread->given = (struct waited){0};
		return;
	}
	if (sum(&thread->latest)) {
		u64 most = sum(&thread->sampled) > span_ns ? sum(&thread->sampled) : span_ns;

		due = owed(thread);
		thread->wanted.slept = min(due.slept, thread->sampled.slept * WAIT_RAISE);
		thread->wanted.slept = min(thread->wanted.slept, most);
		thread->wanted.delayed = min(due.delayed, thread->sampled.delayed * WAIT_RAISE);
		thread->wanted.delayed = min(thread->wanted.delayed, most - thread->wanted.slept);
		/* What was not seen in earlier halves cannot be added to them any more. */
		thread->left_ns =
			min(sum(&due) - sum(&thread->wanted), less(span_ns, sum(&thread->wanted)));
		thread->given.slept += due.slept - thread->wanted.slept;
		thread->given.delayed += due.delayed - thread->wanted.delayed;
	}
	thread->given.slept += thread->wanted.slept;
	thread->given.delayed += thread->wanted.delayed;
}

/* Counts are whole numbers. What rounding takes from one tally, the next has. */
static u64 weigh_count(struct thread *thread, u64 count)
{
	u64 before = thread->weighed * thread->wanted_count / thread->sampled_count;

	thread->weighed += count;
	return thread->weighed * thread->wanted_count / thread->sampled_count - before;
}

static void weigh(struct wait_times *times, const struct tally_key *key, struct tally *tally)
{
	struct thread *thread = thread_sets_find(times->threads, key);
	u64 sampled, wanted;

	if (!thread || thread->place.round != times->round)
		return;
	sampled = *part_of(&thread->sampled, key);
	wanted = *part_of(&thread->wanted, key);
	if (sampled)
		tally->value = (u64)((double)tally->value / (double)sampled * (double)wanted);
	if (thread->sampled_count)
		tally->count = weigh_count(thread, tally->count);
}

void wait_times_weigh(struct wait_times *times, const struct drained *drained, uint64_t span_ns)
{
	times->round++;
	for (size_t i = 0; i < drained->tally_count; i++)
		if (drained->tally_keys[i].kind == KIND_offcpu)
			meet(times, drained, i);
	for (size_t i = 0; i < THREAD_PLACES; i++) {
		struct thread *thread = thread_sets_place(times->threads, i);

		if (thread->place.round == times->round)
			settle(thread, span_ns);
	}
	for (size_t i = 0; i < drained->tally_count; i++)
		if (drained->tally_keys[i].kind == KIND_offcpu)
			weigh(times, &drained->tally_keys[i], &drained->tallies[i]);
}

bool wait_times_left(const struct wait_times *times, size_t *at, struct wait_left *ret_left)
{
	while (*at < THREAD_PLACES) {
		const struct thread *thread = thread_sets_place(times->threads, (*at)++);

		if (thread->place.round != times->round || thread->left_ns < LEAST_LEFT_NS)
			continue;
		*ret_left = (struct wait_left){.tally = thread->tally, .ns = thread->left_ns};
		return true;
	}
	return false;
}
