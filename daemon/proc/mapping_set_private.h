/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of struct mapping_set share.
 */
#pragma once

#include "proc/mapping_chunk.h"
#include "proc/mapping_set.h"

struct slot {
	struct mapping_chunk *chunk;
	size_t first; /* mappings in the chunks before it, of the slots that are counted */
};

struct mapping_set {
	int references;
	uint64_t serial;
	struct mapping_room *room;
	uint32_t user; /* who pays for what is added; OWNER_UNKNOWN at first */
	uint32_t slots_user;
	size_t count, slot_count, slot_capacity;
	size_t counted;                       /* slots, from the first one on */
	uint32_t round;                       /* the latest that asked for its objects */
	uint32_t asked_round, replaced_round; /* of struct opened_batch */
	bool is_opened;                       /* as of asked_round */
	struct slot *slots;
};

/* Of a set that was made or changed. */
uint64_t mapping_set_next_serial(void);
