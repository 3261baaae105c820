/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Samples of the same call path and kind of memory are added up, whichever thread they are from.
 */
#include "views/memory_stacks.h"

#include "http/json.h"

#include <errno.h>
#include <string.h>

enum { BYTES_VALUE = 1 }; /* index into a sample's values: count, bytes */
enum { FRAME_BYTES = sizeof("        \"\",\n") - 1 };

struct stack {
	uint32_t node, kind; /* kind: a string of the profile */
	uint64_t bytes;
};

static int compare_path(const void *a, const void *b)
{
	const struct stack *left = a, *right = b;

	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return (left->kind > right->kind) - (left->kind < right->kind);
}

/* Largest first; equal sizes in a stable order. */
static int compare_bytes(const void *a, const void *b)
{
	const struct stack *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	return compare_path(a, b);
}

/* Returns the number of stacks. */
static size_t add_up(const struct profile *profile, struct stack *stacks)
{
	size_t samples = 0, count = 0;

	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];

		stacks[samples++] =
			(struct stack){sample->node, profile->tasks[sample->task].memory,
		                       sample->values[BYTES_VALUE]};
	}
	if (samples)
		qsort(stacks, samples, sizeof(*stacks), compare_path);
	for (size_t i = 0; i < samples; i++) {
		if (count && !compare_path(&stacks[count - 1], &stacks[i]))
			stacks[count - 1].bytes += stacks[i].bytes;
		else
			stacks[count++] = stacks[i];
	}
	if (count)
		qsort(stacks, count, sizeof(*stacks), compare_bytes);
	return count;
}

static json_t *text_json(const struct profile *profile, uint32_t string)
{
	const char *text = profile_string(profile, string);

	return json_text(text, strlen(text));
}

/* The bytes that an answer may still take. The JSON tree is no larger than the text written from
 * it, apart from a constant amount for each frame, and a stack has few frames. */
struct room {
	size_t left;
	bool exceeded;
};

/* Charges the name and the characters written around it: each name is on a line of its own. */
static json_t *name_json(const struct profile *profile, uint32_t string, struct room *room)
{
	size_t bytes = strlen(profile_string(profile, string)) + FRAME_BYTES;

	if (bytes > room->left) {
		room->exceeded = true;
		return NULL;
	}
	room->left -= bytes;
	return text_json(profile, string);
}

/* Leaf first, including inlined calls. */
static json_t *frames_json(const struct profile *profile, uint32_t node, struct room *room)
{
	json_t *frames = json_array();

	for (; frames && node; node = profile->nodes[node].parent) {
		const struct location *location =
			&profile->locations[profile->nodes[node].location];

		for (uint32_t i = 0; i < location->line_count; i++) {
			const struct line *line = &profile->lines[location->first_line + i];
			uint32_t name = profile->functions[line->function].name;

			if (json_array_append_new(frames, name_json(profile, name, room))) {
				json_decref(frames);
				return NULL;
			}
		}
	}
	return frames;
}

static json_t *stacks_json(const struct profile *profile, const struct stack *stacks, size_t count,
                           struct room *room)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < count && i < MEMORY_STACKS; i++) {
		json_t *stack = json_pack("{s:I, s:o, s:o}", "bytes", (json_int_t)stacks[i].bytes,
		                          "kind", text_json(profile, stacks[i].kind), "frames",
		                          frames_json(profile, stacks[i].node, room));

		if (json_array_append_new(list, stack)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

int memory_stacks_of(const struct profile *profile, size_t max_bytes, json_t **ret_stacks)
{
	_cleanup_free_ struct stack *stacks =
		calloc((size_t)profile->sample_count + 1, sizeof(*stacks));
	struct room room = {.left = max_bytes ? max_bytes : SIZE_MAX};

	if (!stacks)
		return -ENOMEM;
	*ret_stacks = stacks_json(profile, stacks, add_up(profile, stacks), &room);
	if (*ret_stacks)
		return 0;
	return room.exceeded ? -EFBIG : -ENOMEM;
}

int memory_stacks_json(struct symbolizer *symbolizer, struct profile *const *slices,
                       size_t slice_count, const struct selection *selection, size_t max_bytes,
                       json_t **ret_stacks)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	int err = builder ? select_merge(builder, slices, slice_count, selection) : -ENOMEM;

	if (!err)
		err = symbolizer_run(symbolizer, builder);
	if (!err)
		err = builder_seal(builder, &profile);
	return err ? err : memory_stacks_of(profile, max_bytes, ret_stacks);
}
