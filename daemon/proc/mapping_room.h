/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct mapping_room - bounds the memory of all mappings of all processes, and each user's share
 * of it. NULL is room without bounds. Loop thread only.
 */
#pragma once

#include "base/shares.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping_room {
	struct shares shares; /* in bytes; `whole` is MAX_MAPPING_BYTES */
	uint64_t refused;     /* how often a user's share was used up */
};

static inline bool mapping_room_take(struct mapping_room *room, uint32_t user, size_t bytes)
{
	if (!room || shares_take(&room->shares, user, bytes))
		return true;
	room->refused++;
	return false;
}

static inline void mapping_room_give(struct mapping_room *room, uint32_t user, size_t bytes)
{
	if (room)
		shares_give(&room->shares, user, bytes);
}
