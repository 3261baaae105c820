/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct recorder - the recent past. The drain adds one slice (a sealed profile of a second or
 * less) at a time. Slices of the same 10 s window are merged once the window has been over for
 * `fine_ns`. Windows are dropped when they are older than `keep_ns`. A reader gets references to
 * the slices of a time range, which remain valid however long it uses them. Loop thread only; the
 * slices themselves may be read anywhere.
 *
 * When all slices together exceed `max_bytes`, the account (base/accounts.h) with most of them
 * loses stacks: its oldest stacks become one frame (profile/fold.h). Its ticks still count, and the
 * other accounts' past stays. So no account loses anything as long as there is room, an account
 * that is alone loses its oldest stacks, and no account shortens the past of one that has less. If
 * root has most, or if there is nothing left to fold, the oldest slices are dropped, whichever
 * accounts they belong to. The newest slice stays as it is, even if it alone is too big, because a
 * reader may be waiting for it. So that its size drops no other account's past, it counts for half
 * of `max_bytes` at most.
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
	uint64_t windows_evicted; /* dropped for lack of memory, before their time */
	uint64_t samples_evicted; /* how many samples they held */
	/* Samples whose stacks were folded because their account had most. */
	uint64_t stacks_evicted;
	uint64_t slices_failed; /* not kept for lack of memory */
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
/* Changes `max_bytes`. */
void recorder_resize(struct recorder *recorder, size_t max_bytes);
/* Holds a boundary that a reader will need: no merge reaches across it until it is released. */
int recorder_hold(struct recorder *recorder, uint64_t mono_ns);
void recorder_unhold(struct recorder *recorder, uint64_t mono_ns);
/* Returns the slices that are at least half in [from, to), and those that hold at least half of
 * that range. So a range is off by at most half a window, is exact at boundaries, and is never
 * empty where something is kept. If nothing is kept there are 0 slices and no error. */
int recorder_read(struct recorder *recorder, uint64_t from_mono_ns, uint64_t to_mono_ns,
                  struct slices *ret_slices);
void recorder_get_stats(const struct recorder *recorder, struct recorder_stats *ret_stats);

void slices_release(struct slices *slices);
/* How much of the time from the first to the last slice lies in none. */
uint64_t slices_gap(const struct slices *slices);
