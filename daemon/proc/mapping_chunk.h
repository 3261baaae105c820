/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct mapping_chunk - a few neighbouring mappings, sorted: what mapping sets share. A set that
 * changes one of 50,000 mappings copies one chunk. Loop thread only.
 */
#pragma once

#include "proc/mapping_set.h"

enum { CHUNK_MAPPINGS = 64 };

struct mapping_chunk {
	uint32_t references;
	uint32_t user; /* who pays for it */
	struct mapping_room *room;
	uint16_t count, capacity, tickets; /* mappings; and those whose file is being opened */
	bool is_opened;                    /* as of this round of struct opened_batch */
	uint32_t asked_round;
	struct proc_mapping items[];
};

/* Empty; NULL when memory, or the user's room, is out. */
struct mapping_chunk *mapping_chunk_new(size_t capacity, struct mapping_room *room, uint32_t user);
/* With the same mappings and room for one more, if that is not more than CHUNK_MAPPINGS. */
struct mapping_chunk *mapping_chunk_copy(const struct mapping_chunk *chunk,
                                         struct mapping_room *room, uint32_t user);
struct mapping_chunk *mapping_chunk_ref(struct mapping_chunk *chunk);
void mapping_chunk_unref(struct mapping_chunk *chunk);
size_t mapping_chunk_bytes(const struct mapping_chunk *chunk);

/* Of a chunk that nobody shares. Insert takes over the reference to the path, and wants room. */
void mapping_chunk_insert(struct mapping_chunk *chunk, size_t at,
                          const struct proc_mapping *mapping);
void mapping_chunk_remove(struct mapping_chunk *chunk, size_t at);
/* Moves all from `at` on to the end of another, which has room for them. */
void mapping_chunk_split(struct mapping_chunk *chunk, size_t at, struct mapping_chunk *to);
