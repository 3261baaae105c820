/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct growth_track - what is kept of one process so that its growth can be judged, and the
 * judgement. Most processes never hold much more than they did when they began, and of those only
 * the least is kept. Of one that has grown by GROWTH_TRACK_BYTES above it the floors are, a
 * kilobyte a figure, filled from its series first. There is room for so many bytes of floors in
 * all, of which each account has its share; what grows when there is none is not judged, and
 * counted. Loop thread only.
 */
#pragma once

#include "base/shares.h"
#include "memory/growth.h"
#include "memory/series.h"

#include <stddef.h>

enum { GROWTH_TRACK_BYTES = 4 << 20 };

struct growth_figure {
	uint64_t least;        /* MEMORY_UNKNOWN: the figure is not known */
	uint64_t had_bytes;    /* the process held when it came to be known, of the heap */
	struct floors *floors; /* NULL: it has not grown, or there is no room */
	uint32_t user;         /* whose share they are of */
};

struct growth_track {
	struct growth growth; /* as of the last judgement */
	struct growth_figure of[GROWTH_OF_COUNT];
	uint32_t pid;
	uint64_t from_ms; /* what was before is another program's */
	uint64_t due_ms;  /* of the next judgement */
	bool told;        /* something since the last one */
	bool refused;     /* floors, for lack of room */
};

/* Below, `room` is of the floors of all tracks together, in bytes. */

/* A program begins in a track that is all zeroes, or was another program's, or ended. */
void growth_track_begin(struct growth_track *track, struct shares *room, uint32_t pid, uint64_t ms);
/* What it holds, told to its series already; a slope led to that, or a step. It is `user`'s. */
void growth_track_add(struct growth_track *track, struct shares *room, uint32_t user,
                      const struct series *series, const struct series_point *now, bool slope);
/* Judges when it is due: when a part of its floors is over, and it was told something or leaks. */
void growth_track_judge(struct growth_track *track, uint64_t now_ms);
/* Nothing is kept, and nothing leaks. */
void growth_track_end(struct growth_track *track, struct shares *room);
