/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct chunks - the memory that tables are in, as much of it as they need: when none has room a
 * chunk is made, or a few where there are many, and each is given back when it has been empty for
 * some seconds. A run of words lies in
 * one chunk; chunks that come first are filled first, so that the last ones become empty. Loop
 * thread only.
 */
#pragma once

#include "unwind/unwinder.h"

#include <stddef.h>
#include <stdint.h>

/* Words of the largest run: a chunk without its first words, so that no run begins at 0, and its
 * last. */
enum { CHUNK_GRAIN = 64, CHUNK_ROOM = CHUNK_WORDS - CHUNK_GRAIN - CHUNK_SLACK };

struct chunks;

struct chunks *chunks_new(const struct unwind_memory *memory); /* NULL when out of memory */
void chunks_free(struct chunks *chunks); /* leaves what is there; no walker reads it any more */

/* A run of `count` words, rounded up to whole grains, as unwind_table.base; 0 when there is no
 * room. Its words hold anything. */
uint32_t chunks_take(struct chunks *chunks, size_t count);
void chunks_give(struct chunks *chunks, uint32_t base, size_t count);
/* Where a run's words are. */
uint32_t *chunks_words(const struct chunks *chunks, uint32_t base);

/* Words that could still be taken, in chunks that are there or may be made. */
size_t chunks_free_words(const struct chunks *chunks);
/* The same of one chunk, 0 where there is none: what is not there counts unless it was just
 * refused, what is being given back does not. The most that any one has: no larger run can be
 * taken. */
size_t chunks_free_in(const struct chunks *chunks, uint32_t number);
size_t chunks_room(const struct chunks *chunks);
size_t chunks_all_words(const struct chunks *chunks);
/* Gives back what has been empty for long, by epochs, which count up by the second: at most one a
 * call. Called now and then: giving back waits for walkers. */
void chunks_tend(struct chunks *chunks, uint32_t epoch);
