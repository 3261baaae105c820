/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct mapping_set: what a set consists of.
 */
#pragma once

#include "proc/mapping_set.h"

enum { CHUNK_MAPPINGS = 64 };

/* A few neighbouring mappings, sorted: the unit that sets share. A set that changes one of 50,000
 * mappings copies one chunk. */
struct mapping_chunk {
	uint32_t references;
	uint32_t user; /* the memory counts against this user's share */
	struct mapping_room *room;
	uint16_t count, capacity, tickets; /* tickets: mappings whose file is being opened */
	bool is_opened;       /* some of these files were opened, as of `asked_round` */
	uint32_t asked_round; /* of struct opened_batch */
	struct proc_mapping items[];
};

/* An empty chunk; NULL when memory, or the user's share of the room, is used up. */
struct mapping_chunk *mapping_chunk_new(size_t capacity, struct mapping_room *room, uint32_t user);
/* A chunk with the same mappings, and with room for one more unless it has CHUNK_MAPPINGS. */
struct mapping_chunk *mapping_chunk_copy(const struct mapping_chunk *chunk,
                                         struct mapping_room *room, uint32_t user);
struct mapping_chunk *mapping_chunk_ref(struct mapping_chunk *chunk);
void mapping_chunk_unref(struct mapping_chunk *chunk);
size_t mapping_chunk_bytes(const struct mapping_chunk *chunk);

/* These two need a chunk that is not shared. Insert takes over the reference to the path; the chunk
 * must have room. */
void mapping_chunk_insert(struct mapping_chunk *chunk, size_t at,
                          const struct proc_mapping *mapping);
void mapping_chunk_remove(struct mapping_chunk *chunk, size_t at);
/* Moves all mappings from index `at` on to the end of another chunk, which must have room. */
void mapping_chunk_split(struct mapping_chunk *chunk, size_t at, struct mapping_chunk *to);

struct slot {
	struct mapping_chunk *chunk;
	size_t first; /* number of mappings in the chunks before; valid in slots below `counted` */
};

struct mapping_set {
	int references;
	uint64_t serial;
	struct mapping_room *room;
	uint32_t user;       /* additions count against this user; OWNER_UNKNOWN at first */
	uint32_t slots_user; /* `slots` counts against this user */
	size_t count, slot_count, slot_capacity;
	size_t counted;                       /* number of leading slots whose `first` is valid */
	uint32_t round;                       /* the latest round that asked for the objects */
	uint32_t asked_round, replaced_round; /* of struct opened_batch */
	bool is_opened; /* it has some of the batch's tickets, as of `asked_round` */
	struct slot *slots;
};

/* The next serial, for a set that was made or changed. */
uint64_t mapping_set_next_serial(void);
