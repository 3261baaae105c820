/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One ring per level. The number of a part is its time divided by its length; its place in the ring
 * is that number modulo the ring's size, so that nothing has to be moved.
 */
#include "memory/floors.h"

enum { RING = FLOORS_PARTS + 1 };

static int shift_of(int level)
{
	return FLOORS_FIRST_SHIFT + level;
}

static uint32_t kib_of(uint64_t bytes)
{
	return bytes / 1024 < UINT32_MAX ? (uint32_t)(bytes / 1024) : UINT32_MAX;
}

void floors_begin(struct floors *floors, uint64_t phase_ms, uint64_t ms, uint64_t bytes)
{
	uint64_t begin_ms = ms + phase_ms;

	*floors = (struct floors){
		.phase_ms = phase_ms,
		.begin_ms = begin_ms,
		.last_ms = begin_ms,
		.last_kib = kib_of(bytes),
	};
	for (int level = 0; level < FLOORS_LEVELS; level++)
		floors->kib[level][(begin_ms >> shift_of(level)) % RING] = floors->last_kib;
}

/* A straight line from the last value to `kib` at `ms`. */
struct line {
	uint64_t from_ms, to_ms;
	uint32_t from_kib, to_kib;
};

static uint32_t at(const struct line *line, uint64_t ms)
{
	double share;

	if (ms <= line->from_ms)
		return line->from_kib;
	if (ms >= line->to_ms)
		return line->to_kib;
	share = (double)(ms - line->from_ms) / (double)(line->to_ms - line->from_ms);
	return (uint32_t)((1 - share) * line->from_kib + share * line->to_kib);
}

static void draw(uint32_t ring[RING], int shift, const struct line *line)
{
	uint64_t known = line->from_ms >> shift, last = line->to_ms >> shift;
	uint64_t part = last - known < RING ? known : last - FLOORS_PARTS;

	for (; part <= last; part++) {
		uint32_t *floor = &ring[part % RING];
		uint32_t begin = at(line, part << shift), end = at(line, (part + 1) << shift);
		uint32_t least = begin < end ? begin : end;

		if (part != known || least < *floor)
			*floor = least;
	}
}

static void draw_all(struct floors *floors, uint64_t ms, uint32_t kib)
{
	const struct line line = {floors->last_ms, ms, floors->last_kib, kib};

	for (int level = 0; level < FLOORS_LEVELS; level++)
		draw(floors->kib[level], shift_of(level), &line);
	floors->last_ms = ms;
	floors->last_kib = kib;
}

void floors_hold(struct floors *floors, uint64_t ms)
{
	if (ms + floors->phase_ms > floors->last_ms)
		draw_all(floors, ms + floors->phase_ms, floors->last_kib);
}

void floors_add(struct floors *floors, uint64_t ms, uint64_t bytes, bool slope)
{
	if (!slope)
		floors_hold(floors, ms);
	if (ms + floors->phase_ms >= floors->last_ms)
		draw_all(floors, ms + floors->phase_ms, kib_of(bytes));
}

bool floors_window(const struct floors *floors, int level, struct floors_window *ret_window)
{
	int shift = shift_of(level);
	uint64_t end = floors->last_ms >> shift; /* the part that is not over yet */
	uint64_t begin = end - FLOORS_PARTS;

	if (end < FLOORS_PARTS || begin << shift < floors->begin_ms)
		return false;
	ret_window->begin_ms = (begin << shift) - floors->phase_ms;
	ret_window->end_ms = (end << shift) - floors->phase_ms;
	for (uint64_t part = begin; part < end; part++)
		ret_window->kib[part - begin] = floors->kib[level][part % RING];
	return true;
}

static void look_back(const struct floors *floors, int level, uint64_t until_ms, uint32_t first_kib,
                      struct floors_past *past)
{
	int shift = shift_of(level);
	uint64_t now = floors->last_ms >> shift, end = until_ms >> shift;
	uint64_t part = now < FLOORS_PARTS ? 0 : now - FLOORS_PARTS;
	uint32_t high = 0;

	if (part < floors->begin_ms >> shift)
		part = floors->begin_ms >> shift;
	for (; part <= end; part++) {
		/* The first value of the window comes after all of these parts. */
		uint32_t floor = part < end ? floors->kib[level][part % RING] : first_kib;

		if (part < end && floor > high)
			high = floor;
		if (high > floor && high - floor > past->fall_kib)
			past->fall_kib = high - floor;
	}
	if (high > past->high_kib)
		past->high_kib = high;
}

void floors_before(const struct floors *floors, int level, const struct floors_window *window,
                   struct floors_past *ret_past)
{
	*ret_past = (struct floors_past){0};
	for (int longer = level + 1; longer < FLOORS_LEVELS; longer++)
		look_back(floors, longer, window->begin_ms + floors->phase_ms, window->kib[0],
		          ret_past);
}

uint64_t floors_next_end(const struct floors *floors, uint64_t ms)
{
	uint64_t part = ((ms + floors->phase_ms) >> FLOORS_FIRST_SHIFT) + 1;

	return (part << FLOORS_FIRST_SHIFT) - floors->phase_ms;
}
