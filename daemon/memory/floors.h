/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct floors - the least of one figure in each of equal parts of a time, for times of two
 * minutes up to twelve days, in a kilobyte. What a garbage collector or a busy moment takes and
 * gives back within a part does not show; what stays does. A level is one such time: its
 * FLOORS_PARTS parts are the last ones that are over, and each level's parts are twice as long as
 * those of the level before. Growth is judged on these (growth.h).
 *
 * Sizes are KiB, up to 4 TiB. Times are milliseconds of a clock that does not go back. Parts of
 * different figures end at different times, as their phase says, so that not all are judged in the
 * same moment. Pure; whoever owns it uses it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	FLOORS_PARTS = 16,
	FLOORS_LEVELS = 14,
	FLOORS_FIRST_SHIFT =
		13, /* a part of level 0 is 8.192 s: two readings even where they are slow */
};

struct floors {
	uint64_t phase_ms, begin_ms, last_ms;
	uint32_t last_kib;
	uint32_t kib[FLOORS_LEVELS][FLOORS_PARTS + 1]; /* the part that is not over yet as well */
};

/* The parts of one level, the oldest first. */
struct floors_window {
	uint64_t begin_ms, end_ms;
	uint32_t kib[FLOORS_PARTS];
};

/* What the parts of longer times say of the time before a window. */
struct floors_past {
	uint32_t high_kib; /* the highest of them */
	uint32_t fall_kib; /* the largest fall from one to any later one */
};

void floors_begin(struct floors *floors, uint64_t phase_ms, uint64_t ms, uint64_t bytes);
/* It is so much at `ms`. Before that it was what it was last, or a `slope` leads there from that.
 */
void floors_add(struct floors *floors, uint64_t ms, uint64_t bytes, bool slope);
/* It is still what it was last. */
void floors_hold(struct floors *floors, uint64_t ms);
/* False: what it was is not known for so long. */
bool floors_window(const struct floors *floors, int level, struct floors_window *ret_window);
void floors_before(const struct floors *floors, int level, const struct floors_window *window,
                   struct floors_past *ret_past);
/* A moment in which a part of level 0 ends, and with it those of others, from `ms` on. */
uint64_t floors_next_end(const struct floors *floors, uint64_t ms);
