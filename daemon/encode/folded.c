/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes one line per call path, `comm;root;...;leaf count`, for flamegraph.pl, inferno, speedscope
 * and grep. Paths are merged by name before any of them is written, in a builder whose locations
 * are names. So memory depends on the size of the answer, and not on the number of threads and
 * addresses. If the lines do not fit, those of the account with the longest lines are shortened
 * (encode/folded_room.h).
 */
#include "encode/encoder.h"
#include "encode/folded_room.h"
#include "encode/names.h"
#include "profile/builder.h"

#include <errno.h>
#include <string.h>

struct folding {
	const struct profile *profile;
	struct builder *names; /* a location's address is its name's string id */
	uint32_t *nodes;       /* node in `names`, by the profile's node */
	uint32_t value;        /* which value a line has */
	const bool *gives_way; /* by task: its paths are TOO_LONG; NULL: none are */
	struct buf scratch;
};

static uint32_t fold_frame(struct folding *folding, uint32_t parent, const char *name, bool kernel)
{
	uint32_t string;

	buf_clear(&folding->scratch);
	add_word(&folding->scratch, name, ';');
	if (kernel)
		buf_add_text(&folding->scratch, "_[k]");
	string = builder_text(folding->names, buf_text(&folding->scratch));
	return builder_node(folding->names, parent, builder_location(folding->names, 0, string));
}

static uint32_t fold_node(struct folding *folding, const struct node *node)
{
	const struct profile *profile = folding->profile;
	const struct location *location = &profile->locations[node->location];
	bool kernel = profile->mappings[location->mapping].kind == MAPPING_KERNEL;
	uint32_t at = folding->nodes[node->parent];

	if (!location->line_count)
		return fold_frame(folding, at, UNNAMED, kernel);
	for (uint32_t i = location->line_count; i-- > 0;) {
		uint32_t function = profile->lines[location->first_line + i].function;

		at = fold_frame(folding, at, function_name(profile, function), kernel);
	}
	return at;
}

static void fold_sample(struct folding *folding, const struct sample *sample)
{
	const struct profile *profile = folding->profile;
	const char *comm = profile_string(profile, profile->tasks[sample->task].comm);
	uint32_t node = folding->nodes[sample->node];
	struct task task = {0};

	if (folding->gives_way && folding->gives_way[sample->task])
		node = fold_frame(folding, 0, TOO_LONG, false);
	buf_clear(&folding->scratch);
	add_word(&folding->scratch, *comm ? comm : UNNAMED, ';');
	task.comm = builder_text(folding->names, buf_text(&folding->scratch));
	builder_sample(folding->names, node, builder_task(folding->names, &task), sample->values);
}

static int fold(struct folding *folding)
{
	const struct profile *profile = folding->profile;
	int err;

	for (uint32_t i = 1; i < profile->node_count && !builder_error(folding->names); i++)
		folding->nodes[i] = fold_node(folding, &profile->nodes[i]);
	for (uint32_t i = 1; i < profile->sample_count; i++)
		if (profile->samples[i].values[folding->value])
			fold_sample(folding, &profile->samples[i]);
	err = buf_error(&folding->scratch);
	return err ? err : builder_error(folding->names);
}

/* Adds the frames of a path, root first. */
static void add_path(struct buf *text, struct buf *path, const struct profile *names, uint32_t node)
{
	size_t depth;

	buf_clear(path);
	for (; node; node = names->nodes[node].parent)
		buf_add(path, &names->nodes[node].location, sizeof(uint32_t));
	for (depth = path->len / sizeof(uint32_t); depth-- > 0;) {
		uint32_t location;

		memcpy(&location, path->data + depth * sizeof(location), sizeof(location));
		buf_add_char(text, ';');
		buf_add_text(text, profile_string(names, names->locations[location].address));
	}
}

/* Which value a line has: the one that is shown first. For CPU time it is the samples, which say
 * the same in readable numbers. */
static uint32_t weight_of(const struct profile *profile)
{
	const struct value_type *first = &profile->types[0],
				*shown = &profile->types[profile->shown];

	if (!strcmp(profile_string(profile, first->type), "samples") &&
	    strcmp(profile_string(profile, shown->unit), "bytes") != 0)
		return 0;
	return profile->shown;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int write_lines(const struct profile *names, uint32_t value, struct buf *out)
{
	/* The lines have the size of the answer; only their order differs. */
	_cleanup_(buf_release) struct buf text = {.max = out->max};
	_cleanup_(buf_release) struct buf path = BUF_INIT;
	_cleanup_free_ size_t *starts = calloc(names->sample_count, sizeof(*starts));
	_cleanup_free_ const char **lines = calloc(names->sample_count, sizeof(*lines));
	size_t count = names->sample_count - 1;

	if (!starts || !lines)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &names->samples[i + 1];

		starts[i] = text.len;
		buf_add_text(&text, profile_string(names, names->tasks[sample->task].comm));
		add_path(&text, &path, names, sample->node);
		buf_printf(&text, " %llu\n", (unsigned long long)sample->values[value]);
		buf_add_char(&text, '\0');
	}
	if (buf_error(&text) || buf_error(&path))
		return buf_error(&text) ? buf_error(&text) : buf_error(&path);
	for (size_t i = 0; i < count; i++)
		lines[i] = (const char *)text.data + starts[i];
	qsort(lines, count, sizeof(*lines), by_text);
	for (size_t i = 0; i < count; i++)
		buf_add_text(out, lines[i]);
	return buf_error(out);
}

/* Makes the lines in a new builder, because nothing can be removed from one. */
static int encode_lines(struct folding *folding, struct buf *out)
{
	int err;

	builder_free(folding->names);
	folding->names = builder_new();
	if (!folding->names)
		return -ENOMEM;
	err = fold(folding);
	return err ? err : write_lines(builder_view(folding->names), folding->value, out);
}

static int encode_shortened(struct folding *folding, struct buf *out)
{
	_cleanup_free_ bool *gives_way = calloc(folding->profile->task_count, sizeof(*gives_way));
	const struct folded_paths paths = {
		.profile = folding->profile,
		.names = builder_view(folding->names),
		.nodes = folding->nodes,
		.value = folding->value,
	};
	int err = gives_way ? folded_give_way(&paths, out->max, gives_way) : -ENOMEM;

	if (err)
		return err;
	folding->gives_way = gives_way;
	return encode_lines(folding, out);
}

static int encode_folded(const struct profile *profile, const struct encode_options *options,
                         struct buf *out)
{
	_cleanup_free_ uint32_t *nodes = calloc(profile->node_count, sizeof(*nodes));
	struct folding folding = {.profile = profile, .nodes = nodes, .value = weight_of(profile)};
	int err;

	(void)options;
	if (!nodes)
		return -ENOMEM;
	err = encode_lines(&folding, out);
	if (err == -EFBIG)
		err = encode_shortened(&folding, out);
	buf_release(&folding.scratch);
	builder_free(folding.names);
	return err;
}

const struct encoder encoder_folded = {
	.name = "folded",
	.summary = "one line per call path with its samples or bytes, for flamegraph.pl and "
		   "speedscope",
	.content_type = "text/plain; charset=utf-8",
	.suffix = "",
	.accounts = true,
	.encode = encode_folded,
};
