/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every frame or task first gets the name of its row, which is written out and interned; the number
 * of the row is the id of that name. Then samples are added up by row.
 */
#include "encode/grouping.h"

#include "encode/names.h"
#include "profile/sum.h"

#include <errno.h>
#include <string.h>

#define GROUPING(name, plural) #name,
const char *const grouping_names[GROUPING_COUNT] = {GROUPINGS(GROUPING)};
#undef GROUPING

struct counting {
	const struct profile *profile;
	enum grouping by;
	uint32_t value;
	struct builder *names;
	struct buf scratch;
	/* The row of each. A location has one if it has no lines, or if all its lines are one
	 * row. */
	uint32_t *locations, *lines, *tasks;
	struct group *rows;
};

static uint32_t row_named(struct counting *counting)
{
	const char *name = buf_text(&counting->scratch);

	return builder_text(counting->names, *name ? name : UNNAMED);
}

static const char *function_file(const struct profile *profile, const struct line *line)
{
	return profile_string(profile, profile->functions[line->function].filename);
}

/* profd's own names, for mappings that are not files, have brackets already. */
static void add_binary(struct counting *counting, uint32_t mapping, bool in_brackets)
{
	const struct profile *profile = counting->profile;
	const char *path = profile_string(profile, profile->mappings[mapping].path);

	if (!*path)
		path = UNNAMED;
	in_brackets = in_brackets && *path != '[';
	buf_printf(&counting->scratch, in_brackets ? "[%s]" : "%s", path);
}

/* "function file:line", as far as known. */
static void add_line(struct counting *counting, const struct line *line)
{
	const char *file = function_file(counting->profile, line);

	buf_add_text(&counting->scratch, function_name(counting->profile, line->function));
	if (*file)
		buf_printf(&counting->scratch, " %s", file);
	if (*file && line->number)
		buf_printf(&counting->scratch, ":%u", line->number);
}

static uint32_t name_line(struct counting *counting, const struct location *location,
                          const struct line *line)
{
	const struct profile *profile = counting->profile;

	buf_clear(&counting->scratch);
	if (counting->by == BY_line)
		add_line(counting, line);
	else if (counting->by == BY_function)
		buf_add_text(&counting->scratch, function_name(profile, line->function));
	else if (*function_file(profile, line))
		buf_add_text(&counting->scratch, function_file(profile, line));
	else
		add_binary(counting, location->mapping, true);
	return row_named(counting);
}

static void name_location(struct counting *counting, uint32_t id)
{
	const struct location *location = &counting->profile->locations[id];
	bool whole = counting->by == BY_binary || !location->line_count;

	for (uint32_t i = 0; i < location->line_count && !whole; i++) {
		uint32_t line = location->first_line + i;

		counting->lines[line] =
			name_line(counting, location, &counting->profile->lines[line]);
	}
	if (!whole)
		return;
	buf_clear(&counting->scratch);
	if (counting->by == BY_binary || counting->by == BY_file)
		add_binary(counting, location->mapping, counting->by == BY_file);
	counting->locations[id] = row_named(counting);
}

static void name_task(struct counting *counting, uint32_t id)
{
	const struct profile *profile = counting->profile;
	const struct task *task = &profile->tasks[id];
	const char *comm = profile_string(profile, task->comm);
	const char *thread = profile_string(profile, task->thread);

	buf_clear(&counting->scratch);
	buf_add_text(&counting->scratch, *comm ? comm : UNNAMED);
	if (counting->by == BY_thread)
		buf_printf(&counting->scratch, "/%s (%u)", *thread ? thread : UNNAMED, task->tid);
	else
		buf_printf(&counting->scratch, " (%u)", task->pid);
	counting->tasks[id] = row_named(counting);
}

static bool by_task(enum grouping by)
{
	return by == BY_process || by == BY_thread;
}

static int name_rows(struct counting *counting)
{
	const struct profile *profile = counting->profile;
	int err;

	if (by_task(counting->by))
		for (uint32_t i = 0; i < profile->task_count; i++)
			name_task(counting, i);
	else
		for (uint32_t i = 1; i < profile->location_count; i++)
			name_location(counting, i);
	err = buf_error(&counting->scratch);
	return err ? err : builder_error(counting->names);
}

static void count_frame(struct counting *counting, uint32_t row, uint32_t sample, bool leaf)
{
	struct group *group = &counting->rows[row];
	uint64_t value = counting->profile->samples[sample].values[counting->value];

	if (leaf)
		sum_add(&group->flat, value);
	if (group->last_sample == sample)
		return;
	group->last_sample = sample;
	sum_add(&group->cum, value);
}

static void count_path(struct counting *counting, uint32_t sample)
{
	const struct profile *profile = counting->profile;
	uint32_t leaf = profile->samples[sample].node;

	for (uint32_t node = leaf; node; node = profile->nodes[node].parent) {
		uint32_t id = profile->nodes[node].location;
		const struct location *location = &profile->locations[id];

		if (counting->locations[id]) {
			count_frame(counting, counting->locations[id], sample, node == leaf);
			continue;
		}
		for (uint32_t i = 0; i < location->line_count; i++)
			count_frame(counting, counting->lines[location->first_line + i], sample,
			            node == leaf && !i);
	}
}

static int count_samples(struct counting *counting, struct groups *groups)
{
	const struct profile *profile = counting->profile;
	const struct profile *names = builder_view(counting->names);
	uint32_t count = names->string_count;

	counting->rows = groups->rows = calloc(count, sizeof(*groups->rows));
	if (!groups->rows)
		return -ENOMEM;
	groups->count = count;
	for (uint32_t i = 0; i < count; i++)
		groups->rows[i].name = profile_string(names, i);
	for (uint32_t i = 1; i < profile->line_count && counting->by == BY_line; i++) {
		struct group *group = &groups->rows[counting->lines[i]];
		const char *file = function_file(profile, &profile->lines[i]);

		group->file = *file && profile->lines[i].number ? file : NULL;
		group->line = profile->lines[i].number;
	}
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		if (by_task(counting->by))
			count_frame(counting, counting->tasks[profile->samples[i].task], i, true);
		else
			count_path(counting, i);
	}
	return 0;
}

int groups_count(const struct profile *profile, enum grouping by, uint32_t value,
                 struct groups *ret_groups)
{
	_cleanup_(groups_release) struct groups groups = {.names = builder_new()};
	_cleanup_free_ uint32_t *rows =
		calloc((size_t)profile->location_count + profile->line_count + profile->task_count,
	               sizeof(*rows));
	struct counting counting = {
		.profile = profile,
		.by = by,
		.value = value,
		.names = groups.names,
	};
	int err;

	if (!groups.names || !rows)
		return -ENOMEM;
	counting.locations = rows;
	counting.lines = counting.locations + profile->location_count;
	counting.tasks = counting.lines + profile->line_count;
	err = name_rows(&counting);
	buf_release(&counting.scratch);
	if (!err)
		err = count_samples(&counting, &groups);
	if (err)
		return err;
	*ret_groups = groups;
	groups = (struct groups){0};
	return 0;
}

void groups_release(struct groups *groups)
{
	builder_free(groups->names);
	free(groups->rows);
	*groups = (struct groups){0};
}
