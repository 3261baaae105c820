/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory_keeper - makes keepsakes: waits for a boundary, so that what was sampled until now
 * is in, takes the slices of the last minutes, and has those samples of the process merged on a
 * lane. Names are looked up when it is asked for, as of any profile. Where too many of an account
 * come together, some are put off. Private to memory_watch.c. Loop thread only.
 */
#pragma once

#include "collect/snapshot_places.h"
#include "memory/keepsakes.h"

struct collector;
struct lane;
struct recorder;
struct snapshot;

struct memory_keeper {
	struct collector *collector;
	struct recorder *growth;
	struct lane *lane;
	uint64_t keep_ns;
	struct keepsakes *keepsakes;
	struct snapshot *waiting; /* for their boundary */
	struct snapshot_places places;
	uint64_t failed;
	bool stopped;
};

/* What it works with is set. */
void memory_keeper_init(struct memory_keeper *keeper);
/* When nothing is under way any more. */
void memory_keeper_release(struct memory_keeper *keeper);
/* `what` without a profile, but with its owner. -EAGAIN: too much of his, or of all, is under way
 * or waits. -ENOMEM. */
int memory_keeper_keep(struct memory_keeper *keeper, const struct keepsake *what);
/* Forgets what is under way and what was put off; the lane is stopped after that. */
void memory_keeper_stop(struct memory_keeper *keeper);
