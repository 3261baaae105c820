/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Merges one slice with a filter. Ids of the slice become ids of the builder through one array per
 * table. Only what a kept sample needs is copied, so the profile of one process is small.
 */
#include "profile/select_private.h"

#include "profile/awaits.h"

#include <errno.h>
#include <string.h>

struct merge {
	struct builder *into;
	const struct profile *slice;
	const struct filter *filter;
	/* The builder's ids, by the slice's ids; 0: none yet. */
	uint32_t *mappings, *locations, *functions, *nodes, *tasks;
	bool is_running;      /* of VIEW_wall: the slice is of CPU time */
	uint32_t *kept;       /* by the slice's task: the filter accepts it */
	uint32_t at_ms;       /* at_ms of the slice's tasks */
	uint32_t *folds;      /* by the slice's task: its account is folded */
	uint32_t folded_node; /* in the builder; 0 while there is none */
	uint32_t native_node; /* the same, for NATIVE_FRAME */
	/* One task for each folded process. */
	uint32_t folded[FOLDED_PROCESSES], folded_count;
};

static uint32_t merge_string(const struct merge *merge, uint32_t string)
{
	return builder_text(merge->into, profile_string(merge->slice, string));
}

static uint32_t merge_mapping(const struct merge *merge, uint32_t id)
{
	if (id && !merge->mappings[id]) {
		struct mapping mapping = merge->slice->mappings[id];

		mapping.path = merge_string(merge, mapping.path);
		mapping.build_id = merge_string(merge, mapping.build_id);
		if (mapping.kind == MAPPING_LOOP && merge->filter->selection->loops != LOOPS_KEPT)
			mapping.kind = MAPPING_FILE;
		merge->mappings[id] = builder_mapping(merge->into, &mapping);
	}
	return merge->mappings[id];
}

static uint32_t merge_function(const struct merge *merge, uint32_t id)
{
	if (!merge->functions[id]) {
		struct function function = merge->slice->functions[id];

		function.name = merge_string(merge, function.name);
		function.system_name = merge_string(merge, function.system_name);
		function.filename = merge_string(merge, function.filename);
		merge->functions[id] = builder_function(merge->into, &function);
	}
	return merge->functions[id];
}

static uint32_t merge_location(const struct merge *merge, uint32_t id)
{
	const struct location *from = &merge->slice->locations[id];
	uint32_t to = merge->locations[id];

	if (to)
		return to;
	to = builder_location(merge->into, merge_mapping(merge, from->mapping), from->address);
	merge->locations[id] = to;
	if (!to || !from->line_count || builder_view(merge->into)->locations[to].line_count)
		return to;
	for (uint32_t i = 0; i < from->line_count; i++) {
		const struct line *line = &merge->slice->lines[from->first_line + i];

		builder_line(merge->into, to, merge_function(merge, line->function), line->number);
	}
	return to;
}

static uint32_t merge_task(const struct merge *merge, const struct task *from)
{
	struct task task = *from;

	if (!merge->filter->selection->dims)
		task.grid = task.block = 0;
#define LABEL(name) task.name = merge_string(merge, task.name);
	TASK_LABELS(LABEL)
#undef LABEL
	if (merge->is_running)
		task.state = builder_text(merge->into, RUNNING_STATE);
	task.at_ms += merge->at_ms;
	if (merge->filter->selection->loops != LOOPS_KEPT && !merge->filter->selection->accounts)
		task.account = 0;
	return builder_task(merge->into, &task);
}

/* The labels that a folded task keeps: those of its process and of its owner. */
static struct task folded_task(const struct task *task)
{
	return (struct task){
		.pid = task->pid,
		.tid = task->pid,
		.comm = task->comm,
		.unit = task->unit,
		.container = task->container,
		.pod = task->pod,
		.runtime = task->runtime,
		.runtime_version = task->runtime_version,
		.memory = task->memory,
		.device = task->device,
		.direction = task->direction,
		.fault = task->fault,
		.parent = task->parent,
		.account = task->account,
		.began_boot_ns = task->began_boot_ns,
	};
}

/* Tasks are compared before their strings are interned in the builder, because names that nothing
 * refers to would remain there. */
static uint32_t merge_folded_task(struct merge *merge, uint32_t id)
{
	const struct task *tasks = merge->slice->tasks;
	struct task task = folded_task(&tasks[id]), other;
	uint32_t i = 0;

	for (; i < merge->folded_count; i++) {
		other = folded_task(&tasks[merge->folded[i]]);
		if (!memcmp(&task, &other, sizeof(task)))
			return merge->tasks[merge->folded[i]];
	}
	if (i < FOLDED_PROCESSES) {
		merge->folded[merge->folded_count++] = id;
		return merge_task(merge, &task);
	}
	other = (struct task){
		.comm = builder_text(merge->into, FOLDED_NAME),
		.memory = merge_string(merge, task.memory),
		.device = merge_string(merge, task.device),
		.direction = merge_string(merge, task.direction),
		.fault = merge_string(merge, task.fault),
		.account = task.account,
	};
	return builder_task(merge->into, &other);
}

/* The path of a stack whose only frame is a name in brackets. */
static uint32_t only_node(struct builder *into, const char *name)
{
	return builder_node(into, 0, builder_pseudo(into, name));
}

static void merge_tasks(struct merge *merge)
{
	const struct profile *slice = merge->slice;
	const struct selection *selection = merge->filter->selection;

	for (uint32_t id = 0; id < slice->task_count; id++) {
		const struct task *task = &slice->tasks[id];

		merge->kept[id] = filter_takes(merge->filter, slice, task);
		if (!merge->kept[id] || !id)
			continue;
		merge->folds[id] = selection->folds && task->account == selection->folded;
		merge->tasks[id] =
			merge->folds[id] ? merge_folded_task(merge, id) : merge_task(merge, task);
	}
}

static enum mapping_kind kind_of(const struct profile *slice, uint32_t location)
{
	return slice->mappings[slice->locations[location].mapping].kind;
}

static bool is_lock(const struct profile *profile, uint32_t node)
{
	return kind_of(profile, profile->nodes[node].location) == MAPPING_LOCK;
}

/* Whether the selection leaves out the frame of a node. A loop without a caller stays, or its
 * sample might have no frames. */
static bool hides(const struct merge *merge, const struct node *node)
{
	const struct selection *selection = merge->filter->selection;

	switch (kind_of(merge->slice, node->location)) {
	case MAPPING_KERNEL:
		return selection->no_kernel ||
		       (selection->locks == LOCKS_SHOWN &&
		        is_lock(builder_view(merge->into), merge->nodes[node->parent]));
	case MAPPING_LOCK:
		return selection->locks == LOCKS_HIDDEN;
	case MAPPING_LOOP:
		return merge->filter->selection->loops == LOOPS_HIDDEN &&
		       merge->nodes[node->parent];
	default:
		return false;
	}
}

/* The builder's path for a node, whose caller has its path already. */
static uint32_t merge_node(const struct merge *merge, const struct node *node)
{
	uint32_t caller = merge->nodes[node->parent];

	return hides(merge, node)
	               ? caller
	               : builder_node(merge->into, caller, merge_location(merge, node->location));
}

/* Whether a frame is of the user's own program where only that is shown: of interpreted code, or
 * generated, as that of Node or Java. What interpreted code has compiled counts for its caller. */
static bool is_programs(const struct merge *merge, enum mapping_kind kind, uint32_t caller)
{
	const struct profile *into = builder_view(merge->into);

	return kind == MAPPING_INTERPRETED ||
	       (kind == MAPPING_JIT &&
	        kind_of(into, into->nodes[caller].location) != MAPPING_INTERPRETED);
}

/* Whether a frame is between two stacks. */
static bool is_boundary(const struct profile *profile, uint32_t location)
{
	return profile_is_pseudo(profile, location, WAKES_FRAME) ||
	       profile_is_pseudo(profile, location, AWAITS_FRAME);
}

/* The same where only interpreted code is shown. Native code that interpreted code has called
 * counts for its caller. Native code below all interpreted code is NATIVE_FRAME while there is
 * nothing else. */
static uint32_t merge_interpreted(struct merge *merge, const struct node *node)
{
	uint32_t caller = merge->nodes[node->parent];
	enum mapping_kind kind = kind_of(merge->slice, node->location);

	if (is_programs(merge, kind, caller)) {
		if (caller == merge->native_node)
			caller = 0;
		return builder_node(merge->into, caller, merge_location(merge, node->location));
	}
	if (kind == MAPPING_LOCK && hides(merge, node))
		return caller;
	if (kind == MAPPING_LOCK || is_boundary(merge->slice, node->location))
		return builder_node(merge->into, caller == merge->native_node ? 0 : caller,
		                    merge_location(merge, node->location));
	if (caller || (kind == MAPPING_KERNEL && merge->filter->selection->no_kernel))
		return caller;
	/* The stack is not known, or only a part of it. */
	if (kind == MAPPING_PSEUDO)
		return builder_node(merge->into, 0, merge_location(merge, node->location));
	return merge->native_node = merge->native_node ?: only_node(merge->into, NATIVE_FRAME);
}

static void merge_nodes(struct merge *merge)
{
	bool no_native = merge->filter->selection->no_native;
	const struct profile *slice = merge->slice;
	uint32_t *nodes = merge->nodes;

	/* First mark all nodes on needed paths, up to one that is marked already. */
	for (uint32_t i = 1; i < slice->sample_count; i++) {
		uint32_t node = slice->samples[i].node;

		if (!merge->kept[slice->samples[i].task] || merge->folds[slice->samples[i].task])
			continue;
		for (; node && !nodes[node]; node = slice->nodes[node].parent)
			nodes[node] = 1;
	}
	/* Then replace the marks by ids. Parents come before their children. */
	for (uint32_t id = 1; id < slice->node_count; id++) {
		const struct node *node = &slice->nodes[id];

		if (nodes[id])
			nodes[id] = no_native ? merge_interpreted(merge, node)
			                      : merge_node(merge, node);
	}
}

static void merge_samples(struct merge *merge)
{
	const struct profile *slice = merge->slice;

	for (uint32_t i = 1; i < slice->sample_count; i++) {
		const struct sample *sample = &slice->samples[i];
		uint32_t node = merge->nodes[sample->node];

		if (merge->folds[sample->task])
			node = merge->folded_node =
				merge->folded_node ?: only_node(merge->into, FOLDED_FRAME);
		if (!merge->kept[sample->task] || (merge->filter->selection->no_kernel && !node))
			continue;
		builder_sample(merge->into, node, merge->tasks[sample->task], sample->values);
	}
}

/* The idle task's ticks were only counted. Turns them into what they would have been as samples.
 * The selection applies to the idle task as to any other, so its task is made first. */
static void merge_idle(const struct merge *merge)
{
	struct builder *into = merge->into;
	const struct profile *slice = merge->slice;
	uint64_t values[PROFILE_VALUES] = {slice->ticks.idle};
	uint32_t name = builder_text(into, "[idle]");
	struct mapping mapping = {.path = name, .kind = MAPPING_PSEUDO};
	struct task task = {.comm = name, .at_ms = merge->at_ms};
	uint32_t location;

	if (builder_error(into) || !filter_takes(merge->filter, builder_view(into), &task))
		return;
	if (slice->type_count > 1)
		values[slice->type_count - 1] = slice->ticks.idle * slice->period;
	location = builder_location(into, builder_mapping(into, &mapping), 0);
	builder_sample(into, builder_node(into, 0, location), builder_task(into, &task), values);
}

int select_merge_slice(struct builder *into, const struct profile *slice,
                       const struct filter *filter, uint32_t at_ms)
{
	struct merge merge = {.into = into, .slice = slice, .filter = filter, .at_ms = at_ms};
	_cleanup_free_ uint32_t *ids =
		calloc((size_t)slice->mapping_count + slice->location_count +
	                       slice->function_count + slice->node_count + slice->task_count * 3,
	               sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	merge.mappings = ids;
	merge.is_running =
		filter->selection->view == VIEW_wall &&
		!strcmp(profile_string(slice, slice->period_type.type), WALL_RUNNING_TYPE);
	merge.locations = merge.mappings + slice->mapping_count;
	merge.functions = merge.locations + slice->location_count;
	merge.nodes = merge.functions + slice->function_count;
	merge.tasks = merge.nodes + slice->node_count;
	merge.kept = merge.tasks + slice->task_count;
	merge.folds = merge.kept + slice->task_count;
	merge_tasks(&merge);
	merge_nodes(&merge);
	merge_samples(&merge);
	for (uint32_t i = 1; i < slice->comment_count; i++)
		builder_comment(into, profile_string(slice, slice->comments[i]));
	if (filter->selection->idle && slice->ticks.idle)
		merge_idle(&merge);
	builder_ticks(into, &slice->ticks);
	return builder_error(into);
}
