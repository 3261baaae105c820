/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct series - figures over time, kept small: a point where something changed, as differences to
 * the point before, so that a process that does nothing costs nothing and a busy one some five
 * bytes a second. A value holds until the next point, unless two are equal: then that is a slope.
 * Values are kept in KiB, rounded down. Pure; whoever owns it uses it.
 */
#pragma once

#include "memory/figures.h"

struct series_point {
	uint64_t ms; /* any clock that does not go back */
	struct memory_figures figures;
};

struct series {
	struct series_point first, last;
	uint8_t *bytes; /* the points behind `first`; NULL while there are none */
	uint32_t start, end, capacity;
	uint32_t count; /* with `first`; 0: nothing is known */
};

void series_release(struct series *series); /* empty and reusable afterwards */
/* -ENOMEM */
int series_copy(const struct series *from, struct series *ret_series);
/* Does nothing when the values are those of the last point, or it lies before that. 0, -ENOMEM, or
 * -EFBIG when it holds as much as a series may. */
int series_add(struct series *series, const struct series_point *point);
/* The values of the last point held until then, and nobody looked for long after that: the next
 * point is no step but the end of a slope. Such a point is equal to the one before it. */
int series_hold(struct series *series, uint64_t ms);
/* Forgets what held only before `ms`; what held at that moment stays. */
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
