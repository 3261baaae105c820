/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct snapshot_places - which snapshots may be made now, and which have to wait, so that a user
 * whose processes are killed by the hundred has no place but his own: of those under way as of
 * those that wait each account has its share. Pure.
 */
#pragma once

#include "base/shares.h"

#include <stddef.h>

enum {
	MAX_SNAPSHOTS = 32, /* under way at once */
	MAX_PUT_OFF =
		128, /* of which one account has nearly half, about as many as are ever kept */
};

/* Part of a snapshot. */
struct snapshot_place {
	uint32_t owner;
	struct snapshot_place *next; /* while it waits */
};

struct snapshot_places {
	struct shares under_way, put_off;
	struct snapshot_place *first, **end; /* that wait, by their coming */
};

void snapshot_places_init(struct snapshot_places *places);
void snapshot_places_release(struct snapshot_places *places); /* nobody waits any more */

/* 0: under way. -EINPROGRESS: it waits for snapshot_places_next(). -EAGAIN: neither. */
int snapshot_places_ask(struct snapshot_places *places, struct snapshot_place *place);
/* It is not under way any more. */
void snapshot_places_leave(struct snapshot_places *places, const struct snapshot_place *place);
/* Of those that may begin now the one that has waited longest; it is under way. Or NULL. */
struct snapshot_place *snapshot_places_next(struct snapshot_places *places);
/* One that waits is forgotten, or NULL: none does. */
struct snapshot_place *snapshot_places_forget(struct snapshot_places *places);
