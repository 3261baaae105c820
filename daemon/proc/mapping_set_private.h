/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct mapping_set.
 */
#pragma once

#include "proc/mapping_chunk.h"
#include "proc/mapping_set.h"

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
