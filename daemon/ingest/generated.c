/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "ingest/generated.h"

#include "base/hash.h"
#include "jit/jit_function.h"
#include "object/reach.h"

#include <string.h>

bool generated_is_in(const struct proc_mapping *mapped)
{
	static const char memory[] = "/memfd:";

	if (mapped->object)
		return false;
	return mapped->path[0] == '\0' || !strncmp(mapped->path, memory, strlen(memory)) ||
	       (mapped->path[0] != '[' && !reach_is_file(mapped->path));
}

static enum jit_found find(struct generated *generated, const struct image *image, uint64_t address,
                           struct jit_place *ret_place, uint32_t *ret_since)
{
	if (!generated->number || generated->pid != image->pid ||
	    generated->began_ns != image->start_mono_ns) {
		generated->pid = image->pid;
		generated->began_ns = image->start_mono_ns;
		generated->number = jit_meet(generated->jit, image);
	}
	return jit_find(generated->jit, generated->number, address, ret_place, ret_since);
}

/* Equal wherever name, file and line are equal. */
static uint64_t identity_of(const struct jit_place *place)
{
	uint64_t hash = hash_bytes(HASH_START, place->name, strlen(place->name) + 1);

	hash = hash_bytes(hash, place->file, strlen(place->file));
	return hash_bytes(hash, &place->line, sizeof(place->line));
}

static uint32_t named(struct builder *builder, const struct jit_place *place)
{
	const struct mapping mapping = {
		.path = builder_text(builder, "[jit]"),
		.kind = MAPPING_JIT,
	};
	uint32_t location =
		builder_location(builder, builder_mapping(builder, &mapping), identity_of(place));

	if (location && !builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, jit_function(builder, place), place->line);
	return location;
}

static uint32_t nameless(struct builder *builder, const char *text)
{
	const struct mapping mapping = {
		.path = builder_text(builder, text),
		.kind = MAPPING_PSEUDO,
	};

	return builder_location(builder, builder_mapping(builder, &mapping), 0);
}

/* Keeps what is needed to find the name later. */
static uint32_t unknown(const struct generated *generated, uint64_t address, uint32_t since)
{
	const struct mapping mapping = {
		.path = builder_text(generated->builder, "[jit]"),
		.limit = UINT64_MAX,
		.offset = since,
		.object = generated->number,
		.kind = MAPPING_JIT,
	};

	return builder_location(generated->builder, builder_mapping(generated->builder, &mapping),
	                        address);
}

uint32_t generated_location(struct generated *generated, const struct image *image,
                            uint64_t address)
{
	enum jit_found found = JIT_UNKNOWN;
	struct jit_place place;
	uint32_t since;

	if (generated->jit)
		found = find(generated, image, address, &place, &since);
	switch (found) {
	case JIT_KNOWN:
		return named(generated->builder, &place);
	case JIT_REPLACED:
		return nameless(generated->builder, JIT_REPLACED_FRAME);
	case JIT_UNKNOWN:
		break;
	}
	return generated->number ? unknown(generated, address, since)
	                         : nameless(generated->builder, "[jit]");
}

bool generated_is_trampoline(struct generated *generated, const struct image *image,
                             uint64_t address)
{
	struct jit_place place;
	uint32_t since;

	return generated->jit && find(generated, image, address, &place, &since) == JIT_KNOWN &&
	       jit_is_trampoline(&place);
}
