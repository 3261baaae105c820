/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Walks two series in parallel: that of the process and that of its control group.
 */
#include "views/memory_points.h"

#include "collect/memory_watch.h"
#include "http/json.h"

#include <string.h>

struct points {
	json_t *list;
	uint64_t wall_ms;
	uint64_t from_ms, last_ms; /* the first to write, and the last written */
	bool any, failed;
	struct series_point own, next; /* the current point of the walk, and the one after it */
	bool known, slope; /* a current point exists; values change linearly to `next` */
	uint64_t group_bytes;
};

json_t *memory_fields_json(void)
{
	json_t *fields = json_pack("[s]", "unix_ms");

	for (int i = 0; fields && i < MEMORY_FIGURE_COUNT; i++)
		json_array_append_new(fields, json_string(memory_figure_names[i]));
	json_array_append_new(fields, json_string("control_group"));
	return fields;
}

static json_t *bytes_json(uint64_t bytes)
{
	return bytes == MEMORY_UNKNOWN ? json_null() : json_integer((json_int_t)bytes);
}

/* On a slope, interpolates between the two points; else the current point's value. */
static uint64_t figure_at(const struct points *points, uint64_t ms, int figure)
{
	uint64_t from = points->own.figures.values[figure];
	uint64_t to = points->next.figures.values[figure];
	double way;

	if (!points->slope || from == MEMORY_UNKNOWN || to == MEMORY_UNKNOWN ||
	    ms <= points->own.ms || ms >= points->next.ms)
		return from;
	way = (double)(ms - points->own.ms) / (double)(points->next.ms - points->own.ms);
	return (uint64_t)((double)from + ((double)to - (double)from) * way);
}

static void write_point(struct points *points, uint64_t ms)
{
	json_t *point = json_array();

	if (ms < points->from_ms)
		ms = points->from_ms;
	points->any = true;
	points->last_ms = ms;
	points->failed |=
		json_array_append_new(point, json_integer((json_int_t)(ms + points->wall_ms)));
	for (int i = 0; i < MEMORY_FIGURE_COUNT; i++)
		points->failed |=
			json_array_append_new(point, bytes_json(figure_at(points, ms, i)));
	points->failed |= json_array_append_new(point, bytes_json(points->group_bytes));
	points->failed |= json_array_append_new(points->list, point);
}

/* Before a change at `ms`, writes the values that held until then, if they held for long. */
static void write_until(struct points *points, uint64_t ms)
{
	if (points->any && ms > points->last_ms + 3 * MEMORY_WATCH_MS / 2)
		write_point(points, ms - MEMORY_WATCH_MS);
}

/* Moves to the next point; true when there is another after it. Two equal points begin a slope. */
static bool step(struct points *points, struct series_cursor *own)
{
	points->slope = points->known && !memcmp(&points->own.figures, &points->next.figures,
	                                         sizeof(points->own.figures));
	points->own = points->next;
	points->known = true;
	return series_next(own, &points->next);
}

/* When both series have points of the same time, both are taken before a point is written. */
static void walk(struct points *points, const struct timeline_process *process)
{
	static const struct series nothing;
	struct series_cursor own = series_begin(&process->series);
	struct series_cursor group =
		series_begin(process->group ? &process->group->series : &nothing);
	struct series_point next_group;
	bool has_own = series_next(&own, &points->next),
	     has_group = series_next(&group, &next_group);
	uint64_t first_ms = process->series.first.ms, ms;

	while (has_own || has_group) {
		ms = has_own ? points->next.ms : next_group.ms;
		if (has_group && next_group.ms < ms)
			ms = next_group.ms;
		if (ms > process->seen_ms)
			break;
		if (ms >= points->from_ms && ms >= first_ms)
			write_until(points, ms);
		if (has_own && points->next.ms == ms) {
			has_own = step(points, &own);
		}
		if (has_group && next_group.ms == ms) {
			points->group_bytes = next_group.figures.values[MEMORY_rss_anon];
			has_group = series_next(&group, &next_group);
		}
		if (ms < first_ms)
			continue;
		/* The first point written has the values that held when the range began. */
		if (ms >= points->from_ms)
			write_point(points, ms);
		else if (!(has_own && points->next.ms <= points->from_ms) &&
		         !(has_group && next_group.ms <= points->from_ms) &&
		         process->seen_ms > points->from_ms)
			write_point(points, points->from_ms);
	}
	if (points->any && points->last_ms < process->seen_ms)
		write_point(points, process->seen_ms);
}

json_t *memory_points_json(const struct timeline_process *process, uint64_t from_ms,
                           uint64_t wall_ms)
{
	struct points points = {
		.list = json_array(),
		.wall_ms = wall_ms,
		.from_ms = from_ms,
		.group_bytes = MEMORY_UNKNOWN,
	};

	points.failed = !points.list;
	walk(&points, process);
	if (points.failed) {
		json_decref(points.list);
		return NULL;
	}
	return points.list;
}

json_t *memory_group_json(const struct timeline_group *group)
{
	uint64_t limit;

	if (!group)
		return json_null();
	limit = group->usage.limit_bytes;
	return json_pack("{s:o, s:I, s:o}", "path", json_text(group->path, strlen(group->path)),
	                 "bytes", (json_int_t)group->usage.bytes, "limit",
	                 limit == CONTROL_GROUP_NO_LIMIT ? json_null()
	                                                 : json_integer((json_int_t)limit));
}

json_t *memory_growth_json(const struct growth *growth, uint64_t wall_ms)
{
	if (!growth->leaking)
		return json_null();
	return json_pack("{s:b, s:s, s:I, s:I, s:I, s:I}", "leaking", 1, "of",
	                 growth_of_names[growth->of], "bytes_per_second",
	                 (json_int_t)growth->bytes_per_second, "low_bytes_per_second",
	                 (json_int_t)growth->low_bytes_per_second, "high_bytes_per_second",
	                 (json_int_t)growth->high_bytes_per_second, "since_unix_ms",
	                 (json_int_t)(growth->since_ms + wall_ms));
}
