/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct floors - the minimum of one figure in each of the equal parts of a time window, for
 * windows of two minutes up to twelve days, in a kilobyte. Memory that a garbage collector or a
 * busy moment takes and gives back within a part does not show; memory that stays does. A level is
 * one such window: it consists of the last FLOORS_PARTS parts that are over, and the parts of each
 * level are twice as long as those of the level before. Growth is judged on floors (growth.h).
 *
 * Sizes are KiB, up to 4 TiB. Times are milliseconds of a clock that does not go back. Each figure
 * has a phase, which shifts the ends of its parts, so that not all figures are judged at the same
 * moment. Pure; used only by its owner.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	FLOORS_PARTS = 16,
	FLOORS_LEVELS = 14,
	FLOORS_FIRST_SHIFT =
		13, /* a part of level 0 is 8.192 s: two readings even at the slow rate */
};

struct floors {
	uint64_t phase_ms, begin_ms, last_ms;
	uint32_t last_kib;
	uint32_t kib[FLOORS_LEVELS][FLOORS_PARTS + 1]; /* includes the part that is not over yet */
};

/* The parts of one level, the oldest first. */
struct floors_window {
	uint64_t begin_ms, end_ms;
	uint32_t kib[FLOORS_PARTS];
};

/* What the parts of longer levels show about the time before a window. */
struct floors_past {
	uint32_t high_kib; /* the highest floor */
	uint32_t fall_kib; /* the largest fall from a floor to any later one */
};

void floors_begin(struct floors *floors, uint64_t phase_ms, uint64_t ms, uint64_t bytes);
/* The figure is `bytes` at `ms`. Until then it kept its last value, or, with `slope`, changed along
 * a straight line. */
void floors_add(struct floors *floors, uint64_t ms, uint64_t bytes, bool slope);
/* The figure still has its last value at `ms`. */
void floors_hold(struct floors *floors, uint64_t ms);
/* The window of a level; false when the figure is not known for all of it. */
bool floors_window(const struct floors *floors, int level, struct floors_window *ret_window);
void floors_before(const struct floors *floors, int level, const struct floors_window *window,
                   struct floors_past *ret_past);
/* The first time after `ms` at which a part of level 0 ends, and with it possibly parts of
 * others. */
uint64_t floors_next_end(const struct floors *floors, uint64_t ms);
