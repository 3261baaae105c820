/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct series - figures over time, kept small: there is a point only where a figure changed,
 * encoded as differences to the point before. So an idle process takes no bytes and a busy one some
 * five bytes a second. A value holds until the next point; but after two equal points the values
 * change to those of the next point along a slope. Values are kept in KiB, rounded down. Pure; used
 * only by its owner.
 */
#pragma once

#include "memory/figures.h"

struct series_point {
	uint64_t ms; /* any clock that does not go back */
	struct memory_figures figures;
};

struct series {
	struct series_point first, last;
	uint8_t *bytes; /* the points after `first`; NULL while there are none */
	uint32_t start, end, capacity;
	uint32_t count; /* includes `first`; 0: the series is empty */
};

void series_release(struct series *series); /* empty and reusable afterwards */
/* 0 or -ENOMEM. */
int series_copy(const struct series *from, struct series *ret_series);
/* Does nothing when the values equal those of the last point, or when the point is earlier than
 * that. 0, -ENOMEM, or -EFBIG when the series has reached its maximum size. */
int series_add(struct series *series, const struct series_point *point);
/* The values of the last point held until `ms`, and were not read for long after that. Adds a point
 * equal to the last one, so that the next point is the end of a slope and not a step. */
int series_hold(struct series *series, uint64_t ms);
/* Forgets the points before `ms`, except the one whose values held at `ms`. */
void series_expire(struct series *series, uint64_t ms);
size_t series_bytes(const struct series *series); /* on the heap */

/* Walks the points in order of time; the series must not change meanwhile. */
struct series_cursor {
	const struct series *series;
	struct series_point point;
	uint32_t at;
	bool begun;
};

static inline struct series_cursor series_begin(const struct series *series)
{
	return (struct series_cursor){.series = series};
}

bool series_next(struct series_cursor *cursor, struct series_point *ret_point);
