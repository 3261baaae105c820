/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct snapshot_places - which snapshots may be made now, and which have to wait. Each account
 * has its share of the snapshots under way and of those that wait, so that a user whose processes
 * are killed by the hundred takes no other user's place. Pure.
 */
#pragma once

#include "base/shares.h"

#include <stddef.h>

enum {
	MAX_SNAPSHOTS = 32, /* under way at once */
	MAX_PUT_OFF = 128,  /* one account gets nearly half, about as many as are ever kept */
};

/* Embed in a snapshot. */
struct snapshot_place {
	uint32_t owner;
	struct snapshot_place *next; /* while it waits */
};

struct snapshot_places {
	struct shares under_way, put_off;
	struct snapshot_place *first, **end; /* those that wait, oldest first */
};

void snapshot_places_init(struct snapshot_places *places);
void snapshot_places_release(struct snapshot_places *places); /* when no snapshot waits any more */

/* 0: under way. -EINPROGRESS: it waits for snapshot_places_next(). -EAGAIN: neither. */
int snapshot_places_ask(struct snapshot_places *places, struct snapshot_place *place);
/* The snapshot is no longer under way. */
void snapshot_places_leave(struct snapshot_places *places, const struct snapshot_place *place);
/* Of the waiting snapshots that may begin now, the one that has waited longest; it is then under
 * way. NULL: none. */
struct snapshot_place *snapshot_places_next(struct snapshot_places *places);
/* Takes one waiting snapshot off the list; NULL: none waits. */
struct snapshot_place *snapshot_places_forget(struct snapshot_places *places);
