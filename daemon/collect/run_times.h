/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct run_times - what samples of CPU time stand for. A timer's ticks say where a thread runs,
 * and on average how long; the scheduler says how long exactly. So all samples that a half has of a
 * thread stand for the time that it ran since the half before in which it was met, and each for an
 * equal part of that: sums are the scheduler's, but for what a thread ran in halves that met it not
 * once. A thread that is met for the first time stands for a period, as threads that are never met
 * do for nothing: where many short ones come and go, their sum is right on average.
 *
 * Threads that were not met for long are forgotten where there are many, and met for the first time
 * once more. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "collect/bpf.h"
#include "collect/threads_ran.h"

struct run_times;

struct run_times *run_times_new(void);        /* NULL when out of memory */
void run_times_free(struct run_times *times); /* takes NULL */
DEFINE_CLEANUP(struct run_times *, run_times_free)

/* Sets the values of those tallies of a drained half that are CPU time. `ran`: how long threads had
 * run a moment after its end, of those for which that is known; the others had until their latest
 * sample.
 * Those of a thread that finds no place stand for periods. */
void run_times_weigh(struct run_times *times, const struct drained *drained,
                     const struct threads_ran *ran, uint64_t end_mono_ns, uint64_t period_ns);
