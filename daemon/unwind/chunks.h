/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct chunks - the memory for tables. It grows on demand: when no chunk has room, a chunk is
 * made, or several at once when there are many. A chunk that has been empty for some seconds is
 * given back. A run of words lies in one chunk. Chunks are filled in order, so that the last ones
 * become empty. Loop thread only.
 */
#pragma once

#include "unwind/unwind_memory.h"

#include <stddef.h>
#include <stdint.h>

/* The largest run in words: a chunk without its first words, so that no run begins at 0, and
 * without its last words. */
enum { CHUNK_GRAIN = 64, CHUNK_ROOM = CHUNK_WORDS - CHUNK_GRAIN - CHUNK_SLACK };

struct chunks;

struct chunks *chunks_new(const struct unwind_memory *memory); /* NULL when out of memory */
void chunks_free(struct chunks *chunks); /* leaves the chunks; no walker reads them any more */

/* Takes a run of `count` words, rounded up to whole grains. Returns it in the form of
 * unwind_table.base; 0 when there is no room. The contents of the words are undefined. */
uint32_t chunks_take(struct chunks *chunks, size_t count);
void chunks_give(struct chunks *chunks, uint32_t base, size_t count);
/* The words of a run. */
uint32_t *chunks_words(const struct chunks *chunks, uint32_t base);

/* Words that could still be taken, in chunks that exist or may be made. */
size_t chunks_free_words(const struct chunks *chunks);
/* chunks_free_in(): the same for one chunk; 0 for a number out of range. A chunk that does not
 * exist counts as free, unless making one just failed; a chunk that is being given back does not
 * count. chunks_room(): the largest of these numbers; no larger run can be taken. */
size_t chunks_free_in(const struct chunks *chunks, uint32_t number);
size_t chunks_room(const struct chunks *chunks);
size_t chunks_all_words(const struct chunks *chunks);
/* Gives back chunks that have been empty for long; hides at most one chunk a call. Epochs count
 * seconds. Called now and then, because giving back waits for walkers. */
void chunks_tend(struct chunks *chunks, uint32_t epoch);
