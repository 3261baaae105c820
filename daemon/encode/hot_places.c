/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A place is known by the ids of its functions. Only the few that are kept are written as text: a
 * program chooses how long its names are, and how many stacks it has.
 */
#include "encode/hot_places.h"

#include "base/cleanup.h"
#include "base/table.h"
#include "encode/names.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 200 };

/* The innermost frames: functions, or with this bit the mapping of a frame that has none. */
static const uint32_t is_mapping = 1u << 31;

struct place {
	uint32_t frames[HOT_FRAMES]; /* 0: no further ones */
	uint64_t ns;
	UT_hash_handle hh;
};

struct finding {
	const struct hot_samples *of;
	struct place *places;      /* hash by frames */
	struct place **of_samples; /* by index in of->samples */
};

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

static size_t add_frames(const struct profile *profile, uint32_t id, size_t count,
                         uint32_t frames[HOT_FRAMES])
{
	const struct location *location = &profile->locations[id];
	const struct mapping *mapping = &profile->mappings[location->mapping];

	/* Locks in memory that no file has are many, and one for all who wait in the same place. */
	if (mapping->kind == MAPPING_LOCK && !mapping->object && count < HOT_FRAMES) {
		frames[count++] = location->mapping | is_mapping;
		return count;
	}
	for (uint32_t i = 0; i < location->line_count && count < HOT_FRAMES; i++)
		frames[count++] = profile->lines[location->first_line + i].function;
	if (!location->line_count && count < HOT_FRAMES)
		frames[count++] = location->mapping | is_mapping;
	return count;
}

/* The innermost functions of a path, without those of the kernel unless there are no others. Where
 * interpreted code is on the path, native functions but the innermost are left out. */
static void frames_of(const struct profile *profile, uint32_t leaf, uint32_t frames[HOT_FRAMES])
{
	bool interpreted = is_interpreted(profile, leaf);
	uint32_t node = leaf;
	size_t count = 0;

	while (node && kind_of(profile, node) == MAPPING_KERNEL)
		node = caller_of(profile, node);
	for (node = node ?: leaf; node && count < HOT_FRAMES; node = caller_of(profile, node))
		if (!count || !interpreted || kind_of(profile, node) == MAPPING_INTERPRETED)
			count = add_frames(profile, profile->nodes[node].location, count, frames);
}

static struct place *place_of(struct finding *finding, uint32_t leaf)
{
	struct place wanted = {0}, *place;

	frames_of(finding->of->profile, leaf, wanted.frames);
	HASH_FIND(hh, finding->places, wanted.frames, sizeof(wanted.frames), place);
	if (place)
		return place;
	place = malloc(sizeof(*place));
	if (!place)
		return NULL;
	*place = wanted;
	HASH_ADD(hh, finding->places, frames, sizeof(place->frames), place);
	if (place->hh.tbl)
		return place;
	free(place);
	return NULL;
}

static int add_up(struct finding *finding)
{
	const struct profile *profile = finding->of->profile;

	for (size_t i = 0; i < finding->of->count; i++) {
		const struct sample *sample = &profile->samples[finding->of->samples[i]];
		struct place *place = place_of(finding, sample->node);

		if (!place)
			return -ENOMEM;
		place->ns += sample->values[profile->shown];
		finding->of_samples[i] = place;
	}
	return 0;
}

/* Of equal ones the first is first: the hash keeps their order. */
static size_t choose(const struct finding *finding, struct place *chosen[HOT_PLACES])
{
	size_t count = 0;

	for (struct place *place = finding->places; place; place = place->hh.next) {
		size_t at = count < HOT_PLACES ? count++ : HOT_PLACES;

		for (; at && chosen[at - 1]->ns < place->ns; at--)
			if (at < HOT_PLACES)
				chosen[at] = chosen[at - 1];
		if (at < HOT_PLACES)
			chosen[at] = place;
	}
	return count;
}

static void write_frames(const struct profile *profile, const struct place *place, struct buf *text)
{
	for (size_t i = 0; i < HOT_FRAMES && place->frames[i]; i++) {
		uint32_t frame = place->frames[i], mapping = frame & ~is_mapping;
		const char *path = "";

		buf_add_text(text, i ? " < " : "");
		if (frame & is_mapping)
			path = profile_string(profile, profile->mappings[mapping].path);
		if (!(frame & is_mapping))
			add_cut_word(text, function_name(profile, frame), MAX_NAME);
		else
			add_cut_word(text, *path ? path : UNNAMED, MAX_NAME);
	}
}

/* The gain of the thread that gains most, among those that have at least half as much time as the
 * one with most. */
static double gain_of(const uint64_t *ns, const struct hot_samples *of)
{
	uint64_t most = 0;
	double gain = 1;

	for (uint32_t i = 0; i < of->thread_count; i++)
		most = of->thread_ns[i] > most ? of->thread_ns[i] : most;
	for (uint32_t i = 0; i < of->thread_count; i++) {
		double all = (double)of->thread_ns[i], rest = all - (double)ns[i];

		if (of->thread_ns[i] >= most - most / 2)
			gain = fmax(gain, rest > 0 ? all / rest : INFINITY);
	}
	return gain;
}

static int keep(const struct finding *finding, const struct place *place, struct hot_places *places)
{
	const struct hot_samples *of = finding->of;
	_cleanup_free_ uint64_t *ns = calloc((size_t)of->thread_count + 1, sizeof(*ns));
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	struct hot_place kept = {.ns = place->ns};

	if (!ns)
		return -ENOMEM;
	for (size_t i = 0; i < of->count; i++) {
		const struct sample *sample = &of->profile->samples[of->samples[i]];

		if (finding->of_samples[i] == place)
			ns[of->thread_of[sample->task]] += sample->values[of->profile->shown];
	}
	kept.gain = gain_of(ns, of);
	write_frames(of->profile, place, &text);
	kept.text = strdup(buf_text(&text));
	if (!kept.text || buf_error(&text)) {
		free(kept.text);
		return -ENOMEM;
	}
	places->at[places->count++] = kept;
	return 0;
}

int hot_places_find(const struct hot_samples *of, struct hot_places *ret_places)
{
	_cleanup_free_ struct place **of_samples = calloc(of->count + 1, sizeof(*of_samples));
	struct finding finding = {.of = of, .of_samples = of_samples};
	struct place *chosen[HOT_PLACES], *place, *next;
	int err = of_samples ? add_up(&finding) : -ENOMEM;
	size_t count = err ? 0 : choose(&finding, chosen);

	*ret_places = (struct hot_places){0};
	for (size_t i = 0; i < count && !err; i++)
		err = keep(&finding, chosen[i], ret_places);
	HASH_ITER (hh, finding.places, place, next) {
		HASH_DEL(finding.places, place);
		free(place);
	}
	return err;
}

void hot_places_release(struct hot_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->at[i].text);
	places->count = 0;
}
