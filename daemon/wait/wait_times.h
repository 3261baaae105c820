/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct wait_times - for how long, and for how many waits, samples stand. Only some waits are
 * sampled, and taking a sample makes a wait longer or its length less certain. The scheduler knows
 * exactly for how long a thread has not run, and for how long of that it wanted a CPU. So all
 * samples of a thread in a half together stand for the time that the thread has waited since the
 * last half in which it was met; they tell only how that time is divided.
 *
 * A few samples must not stand for what was not seen: a thread may have slept in a wait that was
 * not sampled. So the time of samples is raised up to WAIT_RAISE times; what is left of the half
 * beyond that is a sample of its own, without a stack.
 *
 * The scheduler also counts how often it has switched away from a thread. The number of waits for
 * which samples stand is made to agree with that in the same way, but what is left of it beyond
 * WAIT_RAISE is given up.
 *
 * What a thread waits before it is met for the first time, and in halves after which nothing is
 * known of it, is as long as samples say. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "kernel/bpf.h"

enum { WAIT_RAISE = 4 };

struct wait_times;

struct wait_times *wait_times_new(void);        /* NULL when out of memory */
void wait_times_free(struct wait_times *times); /* takes NULL */
DEFINE_CLEANUP(struct wait_times *, wait_times_free)

/* Sets the values and counts of the tallies of waits of a drained half that was active for
 * `span_ns`. */
void wait_times_weigh(struct wait_times *times, const struct drained *drained, uint64_t span_ns);

/* What a thread has waited beyond that in the half. */
struct wait_left {
	size_t tally; /* one of the thread's tallies in the half */
	uint64_t ns;
};

/* The next of these from `*at` on, which is 0 at first; false when there are no more. */
bool wait_times_left(const struct wait_times *times, size_t *at, struct wait_left *ret_left);
