/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "encode/hot_places.h"

#include "encode/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Adds the functions of a location, the innermost first, as long as there is room for them. */
static void add_functions(const struct profile *profile, uint32_t id, size_t *count,
                          struct buf *text)
{
	const struct location *location = &profile->locations[id];
	const char *path = profile_string(profile, profile->mappings[location->mapping].path);

	for (uint32_t i = 0; i < location->line_count && *count < HOT_FRAMES; i++) {
		const struct line *line = &profile->lines[location->first_line + i];

		buf_add_text(text, (*count)++ ? " < " : "");
		add_utf8(text, function_name(profile, line->function));
	}
	if (location->line_count || *count == HOT_FRAMES)
		return;
	buf_add_text(text, (*count)++ ? " < " : "");
	add_utf8(text, *path ? path : UNNAMED);
}

static enum mapping_kind kind_of(const struct profile *profile, uint32_t node)
{
	uint32_t mapping = profile->locations[profile->nodes[node].location].mapping;

	return profile->mappings[mapping].kind;
}

static uint32_t caller_of(const struct profile *profile, uint32_t node)
{
	return profile->nodes[node].parent;
}

static bool is_interpreted(const struct profile *profile, uint32_t leaf)
{
	for (uint32_t node = leaf; node; node = caller_of(profile, node))
		if (kind_of(profile, node) == MAPPING_INTERPRETED)
			return true;
	return false;
}

void hot_places_write(const struct profile *profile, uint32_t leaf, struct buf *text)
{
	bool interpreted = is_interpreted(profile, leaf);
	uint32_t node = leaf;
	size_t count = 0;

	while (node && kind_of(profile, node) == MAPPING_KERNEL)
		node = caller_of(profile, node);
	for (node = node ?: leaf; node && count < HOT_FRAMES; node = caller_of(profile, node))
		if (!count || !interpreted || kind_of(profile, node) == MAPPING_INTERPRETED)
			add_functions(profile, profile->nodes[node].location, &count, text);
}

struct counted {
	const char *text;
	uint64_t ns;
};

static int compare_places(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->text > b->text) - (a->text < b->text);
}

int hot_places_keep(struct hot_places *places, const struct profile *names, const uint64_t *ns)
{
	uint32_t count = names->string_count;
	_cleanup_free_ struct counted *all = calloc(count, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		all[i] = (struct counted){profile_string(names, i), ns[i]};
	qsort(all, count, sizeof(*all), compare_places);
	for (size_t i = 0; i < HOT_PLACES && i < count && all[i].ns; i++) {
		struct hot_place place = {strdup(all[i].text), all[i].ns};

		if (!place.text)
			return -ENOMEM;
		places->at[places->count++] = place;
	}
	return 0;
}

void hot_places_release(struct hot_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->at[i].text);
	places->count = 0;
}
