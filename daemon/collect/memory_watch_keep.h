/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory_keeper - makes keepsakes: waits for a boundary, so that what was sampled until now
 * is in, takes the slices of the last minutes, and has those samples of the process merged on a
 * lane. Names are looked up when it is asked for, as of any profile. Private to memory_watch.c.
 * Loop thread only.
 */
#pragma once

#include "memory/keepsakes.h"

struct collector;
struct lane;
struct recorder;
struct snapshot;

/* Under way at once; one more is refused. */
enum { MAX_SNAPSHOTS = 32 };

struct memory_keeper {
	struct collector *collector;
	struct recorder *growth;
	struct lane *lane;
	uint64_t keep_ns;
	struct keepsakes *keepsakes;
	struct snapshot *waiting; /* for their boundary */
	size_t under_way;
	uint64_t failed;
	bool stopped;
};

/* `what` without a profile. -EAGAIN, -ENOMEM. */
int memory_keeper_keep(struct memory_keeper *keeper, const struct keepsake *what);
/* Forgets what is under way; the lane is stopped after that. */
void memory_keeper_stop(struct memory_keeper *keeper);
