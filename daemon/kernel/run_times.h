/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct run_times - how much CPU time samples stand for. The ticks of a timer show where a thread
 * runs, and on average for how long. The scheduler knows exactly for how long. So all samples of a
 * thread in a half together stand for the time that the thread has run since the last half in which
 * it was met, and each of them for an equal part of that. Sums are therefore the scheduler's,
 * except for what a thread ran in halves that did not meet it at all. A thread that is met for the
 * first time counts for one period, and a thread that is never met for nothing. Where many short
 * threads come and go, their sum is right on average.
 *
 * If a thread that was forgotten (kernel/thread_sets.h) is met again, that counts as the first
 * time. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "kernel/bpf.h"
#include "kernel/threads_ran.h"

struct run_times;

struct run_times *run_times_new(void);        /* NULL when out of memory */
void run_times_free(struct run_times *times); /* takes NULL */
DEFINE_CLEANUP(struct run_times *, run_times_free)

/* Sets the values of the CPU time tallies of a drained half. `ran` says how long threads had run a
 * moment after the end of the half, for those threads for which that is known. For other threads
 * their latest sample counts. Samples of a thread that finds no place stand for one period each. */
void run_times_weigh(struct run_times *times, const struct drained *drained,
                     const struct threads_ran *ran, uint64_t end_mono_ns, uint64_t period_ns);
