/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct growth_track - the state from which the growth of one process is judged, and the
 * judgement. Most processes never hold much more than at their start; for those only the minimum is
 * kept. A process that has grown by GROWTH_TRACK_BYTES above its minimum gets floors, a kilobyte
 * per figure, which are first filled from its series. The bytes of all floors are bounded, and each
 * account has a share of them. A process that grows when there is no room is not judged, and is
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
	uint64_t had_bytes;    /* heap only: held by the process when its heap became known */
	struct floors *floors; /* NULL: it has not grown, or there is no room */
	uint32_t user;         /* the floors count against this user's share */
};

struct growth_track {
	struct growth growth; /* as of the last judgement */
	struct growth_figure of[GROWTH_OF_COUNT];
	uint32_t pid;
	uint64_t from_ms; /* earlier points belong to another program */
	uint64_t due_ms;  /* time of the next judgement */
	bool told;        /* figures were added since the last judgement */
	bool refused;     /* there was no room for floors */
};

/* Below, `room` bounds the floors of all tracks together, in bytes. */

/* Starts the track of a program. The track may be all zeroes, that of another program, or ended. */
void growth_track_begin(struct growth_track *track, struct shares *room, uint32_t pid, uint64_t ms);
/* Adds figures that are already in the series; `slope`: they changed along a straight line, and not
 * in a step. The floors count against the share of `user`. */
void growth_track_add(struct growth_track *track, struct shares *room, uint32_t user,
                      const struct series *series, const struct series_point *now, bool slope);
/* Judges when that is due: when a part of the floors is over, and figures were added or it
 * leaks. */
void growth_track_judge(struct growth_track *track, uint64_t now_ms);
/* Releases everything that is kept; the process no longer counts as leaking. */
void growth_track_end(struct growth_track *track, struct shares *room);
