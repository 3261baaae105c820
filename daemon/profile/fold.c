/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each row that samples refer to is counted once, for the account of the first sample that refers
 * to it.
 */
#include "profile/fold.h"

#include "profile/select.h"
#include "profile/sum.h"

#include <string.h>

struct weighing {
	const struct profile *slice;
	/* By id: whether it was counted. */
	uint8_t *mappings, *locations, *functions, *nodes, *tasks, *strings;
	struct weights weights;
	size_t capacity;
};

static bool is_new(uint8_t *seen, uint32_t id)
{
	if (!id || seen[id])
		return false;
	seen[id] = 1;
	return true;
}

static size_t weigh_string(struct weighing *weighing, uint32_t id)
{
	if (!is_new(weighing->strings, id))
		return 0;
	return strlen(profile_string(weighing->slice, id)) + 1 + sizeof(uint32_t);
}

static size_t weigh_mapping(struct weighing *weighing, uint32_t id)
{
	const struct mapping *mapping = &weighing->slice->mappings[id];

	if (!is_new(weighing->mappings, id))
		return 0;
	return sizeof(*mapping) + weigh_string(weighing, mapping->path) +
	       weigh_string(weighing, mapping->build_id);
}

static size_t weigh_function(struct weighing *weighing, uint32_t id)
{
	const struct function *function = &weighing->slice->functions[id];

	if (!is_new(weighing->functions, id))
		return 0;
	return sizeof(*function) + weigh_string(weighing, function->name) +
	       weigh_string(weighing, function->system_name) +
	       weigh_string(weighing, function->filename);
}

static size_t weigh_location(struct weighing *weighing, uint32_t id)
{
	const struct location *location = &weighing->slice->locations[id];
	size_t bytes;

	if (!is_new(weighing->locations, id))
		return 0;
	bytes = sizeof(*location) + weigh_mapping(weighing, location->mapping);
	for (uint32_t i = 0; i < location->line_count; i++)
		bytes += sizeof(struct line) +
		         weigh_function(weighing,
		                        weighing->slice->lines[location->first_line + i].function);
	return bytes;
}

static size_t weigh_path(struct weighing *weighing, uint32_t id)
{
	size_t bytes = 0;

	for (; is_new(weighing->nodes, id); id = weighing->slice->nodes[id].parent)
		bytes += sizeof(struct node) +
		         weigh_location(weighing, weighing->slice->nodes[id].location);
	return bytes;
}

static size_t weigh_task(struct weighing *weighing, uint32_t id)
{
	const struct task *task = &weighing->slice->tasks[id];
#define LABEL(name) task->name,
	const uint32_t strings[] = {TASK_LABELS(LABEL)};
#undef LABEL
	size_t bytes = sizeof(*task);

	if (!is_new(weighing->tasks, id))
		return 0;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		bytes += weigh_string(weighing, strings[i]);
	return bytes;
}

struct weight *weights_of(const struct weights *weights, uint32_t account)
{
	for (size_t i = 0; i < weights->count; i++)
		if (weights->items[i].account == account)
			return &weights->items[i];
	return NULL;
}

static struct weight *weight_of(struct weighing *weighing, uint32_t account)
{
	struct weights *weights = &weighing->weights;
	struct weight *found = weights_of(weights, account);

	if (found)
		return found;
	if (weights->count == weighing->capacity) {
		size_t wanted = weighing->capacity ? weighing->capacity * 2 : 8;

		found = reallocarray(weights->items, wanted, sizeof(*found));
		if (!found)
			return NULL;
		weights->items = found;
		weighing->capacity = wanted;
	}
	found = &weights->items[weights->count++];
	*found = (struct weight){.account = account};
	return found;
}

void weights_find(const struct profile *slice, struct weights *ret_weights)
{
	_cleanup_free_ uint8_t *seen = calloc((size_t)slice->mapping_count + slice->location_count +
	                                              slice->function_count + slice->node_count +
	                                              slice->task_count + slice->string_count,
	                                      1);
	struct weighing weighing = {.slice = slice};
	struct weight *weight = NULL;

	*ret_weights = (struct weights){0};
	if (!seen)
		return;
	weighing.mappings = seen;
	weighing.locations = weighing.mappings + slice->mapping_count;
	weighing.functions = weighing.locations + slice->location_count;
	weighing.nodes = weighing.functions + slice->function_count;
	weighing.tasks = weighing.nodes + slice->node_count;
	weighing.strings = weighing.tasks + slice->task_count;
	for (uint32_t i = 1; i < slice->sample_count; i++) {
		const struct sample *sample = &slice->samples[i];
		uint32_t account = slice->tasks[sample->task].account;

		if (!weight || weight->account != account)
			weight = weight_of(&weighing, account);
		if (weight)
			weight->bytes += sizeof(*sample) + weigh_task(&weighing, sample->task) +
			                 weigh_path(&weighing, sample->node);
	}
	*ret_weights = weighing.weights;
}

void weights_release(struct weights *weights)
{
	free(weights->items);
	*weights = (struct weights){0};
}

static uint64_t count_stacks(const struct profile *slice, uint32_t account)
{
	uint64_t count = 0;

	for (uint32_t i = 1; i < slice->sample_count; i++) {
		const struct sample *sample = &slice->samples[i];

		if (slice->tasks[sample->task].account == account &&
		    !profile_is_pseudo(slice, slice->nodes[sample->node].location, FOLDED_FRAME))
			sum_add(&count, sample->values[0]);
	}
	return count;
}

uint64_t fold(struct profile **slice, uint32_t account)
{
	const struct selection folding = {
		.loops = LOOPS_KEPT,
		.locks = LOCKS_KEPT,
		.dims = true,
		.folds = true,
		.folded = account,
	};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile *folded;
	uint64_t count;

	if (!builder || select_merge(builder, slice, 1, &folding) || builder_seal(builder, &folded))
		return 0;
	count = count_stacks(*slice, account);
	profile_unref(*slice);
	*slice = folded;
	return count;
}
