/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Both figures are tracked in the same way.
 */
#include "memory/growth_track.h"

#include <stdlib.h>
#include <string.h>

enum { PHASE_MS = 1000 }; /* so that parts of different processes end in different seconds */

static uint64_t value_of(const struct memory_figures *figures, enum growth_of of)
{
	return of == GROWTH_heap ? figures->values[MEMORY_heap_inuse] : memory_held(figures);
}

static void forget(struct growth_track *track, struct shares *room, enum growth_of of)
{
	struct growth_figure *figure = &track->of[of];

	if (figure->floors)
		shares_give(room, figure->user, sizeof(*figure->floors));
	free(figure->floors);
	*figure = (struct growth_figure){.least = MEMORY_UNKNOWN};
	if (track->growth.of == of)
		track->growth = (struct growth){0};
}

void growth_track_end(struct growth_track *track, struct shares *room)
{
	for (int of = 0; of < GROWTH_OF_COUNT; of++)
		forget(track, room, of);
	track->refused = false;
}

void growth_track_begin(struct growth_track *track, struct shares *room, uint32_t pid, uint64_t ms)
{
	growth_track_end(track, room);
	track->pid = pid;
	track->from_ms = ms;
}

/* Fills the floors with the points of the series that belong to the program. */
static void replay(struct floors *floors, const struct growth_track *track,
                   const struct series *series, enum growth_of of)
{
	struct series_cursor cursor = series_begin(series);
	struct series_point point, last = {0};
	bool begun = false, slope = false;

	while (series_next(&cursor, &point)) {
		uint64_t bytes = value_of(&point.figures, of);

		if (bytes == MEMORY_UNKNOWN || point.ms < track->from_ms) {
			begun = false;
			continue;
		}
		if (begun)
			floors_add(floors, point.ms, bytes, slope);
		else
			floors_begin(floors, track->pid * PHASE_MS, point.ms, bytes);
		/* Two equal points mark the start of a slope. */
		slope = begun && !memcmp(&point.figures, &last.figures, sizeof(last.figures));
		begun = true;
		last = point;
	}
}

static struct floors *new_floors(struct shares *room, uint32_t user)
{
	struct floors *floors;

	if (!shares_take_beside_root(room, user, sizeof(*floors)))
		return NULL;
	floors = malloc(sizeof(*floors));
	if (!floors)
		shares_give(room, user, sizeof(*floors));
	return floors;
}

static void begin_floors(struct growth_track *track, struct shares *room, uint32_t user,
                         const struct series *series, enum growth_of of)
{
	struct floors *floors = new_floors(room, user);

	track->refused = !floors;
	if (!floors)
		return;
	track->of[of].floors = floors;
	track->of[of].user = user;
	replay(floors, track, series, of);
}

static void add(struct growth_figure *figure, enum growth_of of, const struct series_point *now,
                bool slope)
{
	uint64_t bytes = value_of(&now->figures, of);

	if (figure->least == MEMORY_UNKNOWN && of == GROWTH_heap)
		figure->had_bytes = memory_held(&now->figures);
	if (bytes < figure->least)
		figure->least = bytes;
	if (figure->floors)
		floors_add(figure->floors, now->ms, bytes, slope);
}

void growth_track_add(struct growth_track *track, struct shares *room, uint32_t user,
                      const struct series *series, const struct series_point *now, bool slope)
{
	track->told = true;
	for (int of = 0; of < GROWTH_OF_COUNT; of++) {
		struct growth_figure *figure = &track->of[of];
		uint64_t bytes = value_of(&now->figures, of);

		if (bytes == MEMORY_UNKNOWN) {
			forget(track, room, of);
			continue;
		}
		add(figure, of, now, slope);
		if (!figure->floors && bytes - figure->least >= GROWTH_TRACK_BYTES)
			begin_floors(track, room, user, series, of);
	}
}

static bool judge(struct growth_track *track, enum growth_of of, uint64_t now_ms)
{
	struct growth_figure *figure = &track->of[of];
	struct growth growth = {.of = of};

	if (!figure->floors)
		return false;
	if (track->growth.of == of)
		growth = track->growth;
	floors_hold(figure->floors, now_ms);
	growth_judge(figure->floors, figure->had_bytes, &growth);
	if (growth.leaking)
		track->growth = growth;
	return growth.leaking;
}

static uint64_t next_due_ms(const struct growth_track *track, uint64_t now_ms)
{
	uint64_t due_ms = UINT64_MAX;

	for (int of = 0; of < GROWTH_OF_COUNT; of++) {
		const struct floors *floors = track->of[of].floors;
		uint64_t end_ms = floors ? floors_next_end(floors, now_ms) : UINT64_MAX;

		if (end_ms < due_ms)
			due_ms = end_ms;
	}
	return due_ms;
}

/* The heap first, because it is more exact than the memory that the process holds. */
void growth_track_judge(struct growth_track *track, uint64_t now_ms)
{
	bool has_floors = track->of[GROWTH_resident].floors || track->of[GROWTH_heap].floors;

	if (!has_floors || now_ms < track->due_ms || !(track->told || track->growth.leaking))
		return;
	track->told = false;
	track->due_ms = next_due_ms(track, now_ms);
	if (!judge(track, GROWTH_heap, now_ms) && !judge(track, GROWTH_resident, now_ms))
		track->growth = (struct growth){0};
}
