/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory_keeper - makes keepsakes. A snapshot waits for a boundary, so that everything
 * sampled until now is in a slice. Then it takes the slices of the last minutes and has the samples
 * of the process merged on a lane. Names are looked up when a client asks for the keepsake, as for
 * any profile. When too many snapshots of one account come together, some are put off. Private to
 * memory_watch.c. Loop thread only.
 */
#pragma once

#include "collect/snapshot_places.h"
#include "memory/keepsakes.h"

struct heartbeat;
struct lane;
struct recorder;
struct snapshot;
struct source_state;

struct memory_keeper {
	struct heartbeat *heartbeat;
	struct recorder *growth;           /* of resident memory, by stack */
	const struct source_state *source; /* of these samples */
	struct lane *lane;
	uint64_t keep_ns;
	struct keepsakes *keepsakes;
	struct snapshot *waiting; /* snapshots that wait for their boundary */
	struct snapshot_places places;
	uint64_t failed;
	bool stopped;
};

/* Call when the members up to `keepsakes` are set. */
void memory_keeper_init(struct memory_keeper *keeper);
/* Call when no snapshot is under way any more. */
void memory_keeper_release(struct memory_keeper *keeper);
/* `what` has no profile yet, but an owner. -EAGAIN: too many snapshots of the owner, or of all, are
 * under way or wait. -ENOMEM. */
int memory_keeper_keep(struct memory_keeper *keeper, const struct keepsake *what);
/* Drops the snapshots that are under way or put off. The caller stops the lane after that. */
void memory_keeper_stop(struct memory_keeper *keeper);
