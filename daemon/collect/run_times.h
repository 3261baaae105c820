/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct run_times - what samples of CPU time stand for. A timer's ticks say where a thread runs,
 * and on average how long; the scheduler says how long exactly. So all samples of a thread together
 * stand for the time that it ran since the latest sample before them, and each for an equal part of
 * that: sums are the scheduler's, to within a period of each thread. A thread that is met for the
 * first time stands for a period, as threads that are never met do for nothing: where many short
 * ones come and go, their sum is right on average.
 *
 * Threads that were not met for long are forgotten where there are many, and met for the first time
 * once more. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/abi.h"

#include <stddef.h>

struct run_times;

struct run_times *run_times_new(void);        /* NULL when out of memory */
void run_times_free(struct run_times *times); /* takes NULL */
DEFINE_CLEANUP(struct run_times *, run_times_free)

/* Sets the values of those tallies that are CPU time, of all that were drained of a half. Those of
 * a thread that finds no place stand for periods. */
void run_times_weigh(struct run_times *times, const struct tally_key *keys, struct tally *tallies,
                     size_t count, uint64_t period_ns);
