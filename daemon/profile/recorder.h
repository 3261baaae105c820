/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct recorder - the recent past. The drain adds a slice (a sealed profile of a second or less)
 * at a time; slices of the same 10 s window are merged once it has been over for `fine_ns`, windows
 * are dropped when they are older than `keep_ns`. A reader gets
 * references to the slices of a time range, which stay whole however long it looks at them. Loop
 * thread only; the slices themselves may be read anywhere.
 *
 * When the whole exceeds `max_bytes`, the account (base/accounts.h) with most of it gives way: its
 * oldest stacks become one frame (profile/fold.h), while its ticks still count and everybody else's
 * past stays. So nothing is taken from anybody as long as there is room, who is alone loses what is
 * oldest, and nobody shortens another one's past who has less than he. Where it is root that has
 * most, or there is nothing left to fold, the oldest slices are dropped, whoever's they are. The
 * newest slice stays as it is, even if it is too big alone: somebody may be waiting for it. So that
 * its size drops no other's past it counts for half of `max_bytes` at most.
 */
#pragma once

#include "profile/profile.h"

struct recorder;

struct recorder_limits {
	uint64_t window_ns, keep_ns;
	uint64_t fine_ns; /* how long single slices are kept, for short ranges of the latest past */
	size_t max_bytes;
};

struct recorder_stats {
	size_t bytes, slices;
	uint64_t oldest_mono_ns;  /* start of what is kept; 0 when nothing is */
	uint64_t windows_evicted; /* dropped for memory before their time */
	uint64_t samples_evicted; /* how many samples they held */
	uint64_t stacks_evicted;  /* samples whose stacks were folded: their account had most */
	uint64_t slices_failed;   /* not kept for lack of memory */
};

/* References to slices, oldest first; the holder calls slices_release(). */
struct slices {
	struct profile **profiles;
	size_t count;
};

struct recorder *recorder_new(const struct recorder_limits *limits); /* NULL when out of memory */
void recorder_free(struct recorder *recorder);
DEFINE_CLEANUP(struct recorder *, recorder_free)

/* Takes over the caller's reference. Slices come in order of time and do not overlap. */
int recorder_add(struct recorder *recorder, struct profile *slice);
/* Keeps no more than that from now on. */
void recorder_resize(struct recorder *recorder, size_t max_bytes);
/* A boundary that a reader will come back for: no merge reaches across it until it is released. */
int recorder_hold(struct recorder *recorder, uint64_t mono_ns);
void recorder_unhold(struct recorder *recorder, uint64_t mono_ns);
/* The slices that lie in [from, to) by at least half, and those that the range lies in by at least
 * half: a range cuts windows at most half a window off, exactly at boundaries, and is never empty
 * where something is kept. Nothing kept is 0 slices and no error. */
int recorder_read(struct recorder *recorder, uint64_t from_mono_ns, uint64_t to_mono_ns,
                  struct slices *ret_slices);
void recorder_get_stats(const struct recorder *recorder, struct recorder_stats *ret_stats);

void slices_release(struct slices *slices);
