/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "profile/awaits.h"

#include "base/text.h"
#include "profile/sum.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Tasks that begin with a function, and wait below the same path. */
struct origin {
	uint32_t function, above;
	uint64_t ns;
};

struct origins {
	struct origin *at;
	uint32_t count;
	/* By function: where tasks that begin with it were for most of the time. Its `function` is
	 * 0 if none does; `above` is 0 if there is no such place. */
	struct origin *most;
};

enum { MOST_PERCENT = 90 };

/* The functions of an event loop that call tasks: those of asyncio, whose name begins like this.
 * uvloop's own are native. */
static const struct {
	const char *name, *file;
} callers[] = {
	{"_run", "/asyncio/events.py"},
	{"run", "/asyncio/base_events.py"},
	{"run", "/asyncio/runners.py"},
};

static bool is_interpreted(const struct profile *profile, uint32_t node)
{
	uint32_t mapping = profile->locations[profile->nodes[node].location].mapping;

	return profile->mappings[mapping].kind == MAPPING_INTERPRETED;
}

static bool is_boundary(const struct profile *profile, uint32_t node)
{
	return profile_is_pseudo(profile, profile->nodes[node].location, AWAITS_FRAME);
}

static uint32_t function_of(const struct profile *profile, uint32_t node)
{
	const struct location *location = &profile->locations[profile->nodes[node].location];

	return location->line_count ? profile->lines[location->first_line].function : 0;
}

static bool is_of_task(const struct profile *profile, const struct sample *sample)
{
	return profile->tasks[sample->task].task != 0;
}

/* With which function the task of a sample begins, and below what. */
static struct origin origin_of(const struct profile *profile, const struct sample *sample)
{
	uint32_t first = 0, node = sample->node;

	for (; node && !is_boundary(profile, node); node = profile->nodes[node].parent)
		if (is_interpreted(profile, node))
			first = node;
	return (struct origin){
		.function = first ? function_of(profile, first) : 0,
		.above = node,
		.ns = sample->values[profile->shown],
	};
}

static int compare(const void *left, const void *right)
{
	const struct origin *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->above > b->above) - (a->above < b->above);
}

/* Adds up the origins of each function, which are sorted. */
static void choose(const struct origins *origins, uint32_t first, uint32_t end)
{
	uint32_t function = origins->at[first].function;
	struct origin *most = &origins->most[function];
	uint64_t whole_ns = 0, ns = 0;

	for (uint32_t i = first; i < end; i++) {
		if (i > first && origins->at[i].above != origins->at[i - 1].above)
			ns = 0;
		sum_add(&ns, origins->at[i].ns);
		sum_add(&whole_ns, origins->at[i].ns);
		if (ns >= most->ns)
			*most = (struct origin){function, origins->at[i].above, ns};
	}
	if (most->ns < whole_ns / 100 * MOST_PERCENT)
		most->above = 0;
}

/* Learns where tasks wait. One that has not begun may not be waited for yet. */
static int learn(const struct profile *profile, struct origins *origins)
{
	uint32_t first = 0;

	origins->at = calloc(profile->sample_count, sizeof(*origins->at));
	origins->most = calloc(profile->function_count, sizeof(*origins->most));
	if (!origins->at || !origins->most)
		return -ENOMEM;
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		const char *state = profile_string(profile, profile->tasks[sample->task].state);

		if (!is_of_task(profile, sample) || !strcmp(state, "new"))
			continue;
		origins->at[origins->count] = origin_of(profile, sample);
		/* Function 0 is none. */
		origins->count += origins->at[origins->count].function != 0;
	}
	qsort(origins->at, origins->count, sizeof(*origins->at), compare);
	for (uint32_t i = 0; i < origins->count; i++)
		if (i + 1 == origins->count ||
		    origins->at[i + 1].function != origins->at[i].function) {
			choose(origins, first, i + 1);
			first = i + 1;
		}
	return 0;
}

static void release(struct origins *origins)
{
	free(origins->at);
	free(origins->most);
}

static bool is_loop(const struct profile *profile, uint32_t node)
{
	const struct function *function = &profile->functions[function_of(profile, node)];
	const char *name = profile_string(profile, function->name), *last = strrchr(name, '.');
	const char *file = profile_string(profile, function->filename);

	name = last ? last + 1 : name;
	for (size_t i = 0; i < sizeof(callers) / sizeof(*callers); i++)
		if (!strncmp(name, callers[i].name, strlen(callers[i].name)) &&
		    text_has_end(file, callers[i].file))
			return true;
	return false;
}

/* The tasks that begin with a node, which the event loop has called; NULL: none do. */
static const struct origin *origin_at(const struct profile *profile, uint32_t node,
                                      const struct origins *origins)
{
	const struct origin *origin = &origins->most[function_of(profile, node)];
	uint32_t caller = profile->nodes[node].parent;

	if (!origin->function || !is_interpreted(profile, node))
		return NULL;
	while (caller && !is_interpreted(profile, caller))
		caller = profile->nodes[caller].parent;
	return caller && is_loop(profile, caller) ? origin : NULL;
}

/* Sets `moved` by node: its path as a part of a task; 0: it is in none. */
static void move_paths(struct builder *builder, const struct origins *origins, uint32_t *moved,
                       uint32_t count)
{
	for (uint32_t id = 1; id < count; id++) {
		/* The tables move when a node is added. */
		const struct node node = builder_view(builder)->nodes[id];
		const struct origin *origin = NULL;
		uint32_t above = moved[node.parent];

		if (!above)
			origin = origin_at(builder_view(builder), id, origins);
		if (origin)
			above = origin->above;
		if (origin || above)
			moved[id] = builder_node(builder, above, node.location);
	}
}

/* The labels of a thread of the process that are those of the whole process. */
static void take_labels(const struct profile *profile, struct task *task)
{
	for (uint32_t id = 1; id < profile->task_count; id++) {
		const struct task *of = &profile->tasks[id];

		if (of->task || of->pid != task->pid)
			continue;
		task->comm = of->comm;
		task->unit = of->unit;
		task->container = of->container;
		task->pod = of->pod;
		task->runtime = of->runtime;
		task->runtime_version = of->runtime_version;
		task->parent = of->parent;
		task->account = of->account;
		task->began_boot_ns = of->began_boot_ns;
		return;
	}
}

static void label(struct builder *builder)
{
	const struct profile *profile = builder_view(builder);

	for (uint32_t id = 1; id < profile->task_count; id++) {
		struct task task = profile->tasks[id];

		if (!task.task)
			continue;
		take_labels(profile, &task);
		builder_change_task(builder, id, &task);
	}
}

int awaits_join(struct builder *builder)
{
	const struct profile *profile = builder_view(builder);
	uint32_t nodes = profile->node_count;
	_cleanup_free_ uint32_t *moved = calloc(nodes, sizeof(*moved));
	_cleanup_(release) struct origins origins = {0};

	if (!moved || learn(profile, &origins))
		return -ENOMEM;
	label(builder);
	move_paths(builder, &origins, moved, nodes);
	profile = builder_view(builder);
	for (uint32_t i = 1; i < profile->sample_count && !builder_error(builder); i++) {
		const struct sample *sample = &profile->samples[i];

		if (!is_of_task(profile, sample) && moved[sample->node])
			builder_move_sample(builder, i, moved[sample->node], sample->task);
	}
	return builder_error(builder);
}
