/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct thread_sets - a table of threads that have samples, with what its user keeps of each. A
 * thread is in one of the places of its set. If there are many threads, those that were not met for
 * a long time are forgotten: a new thread takes the place of the thread of its set that was met
 * longest ago. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/abi.h"

#include <stddef.h>

/* The number of places of a set, and of all places. */
enum { THREAD_SET_PLACES = 8, THREAD_PLACES = 512 * THREAD_SET_PLACES };

/* The first member of an entry. */
struct thread_place {
	u32 tid, image; /* image: changes with each exec and each reuse of a pid */
	u64 round;      /* when it was met last; 0: a free place */
};

struct thread_sets;

struct thread_sets *thread_sets_new(size_t entry_size); /* NULL when out of memory */
void thread_sets_free(struct thread_sets *sets);        /* takes NULL */
DEFINE_CLEANUP(struct thread_sets *, thread_sets_free)

/* The entry of the thread that a tally is of; NULL if it has none. */
void *thread_sets_find(struct thread_sets *sets, const struct tally_key *key);
/* The same; an entry that is new is zero but for tid and image. NULL if all places of the thread's
 * set were met in this round: the entry's user sets place.round. */
void *thread_sets_find_or_add(struct thread_sets *sets, const struct tally_key *key, u64 round);
/* Where a thread may be: the i-th place of its set. */
void *thread_sets_place_of(struct thread_sets *sets, u32 tid, size_t i);
/* The i-th of all places. */
void *thread_sets_place(struct thread_sets *sets, size_t i);
