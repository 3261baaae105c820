/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "ingest/generated.h"

#include "jit/jit_function.h"
#include "object/reach.h"

#include <string.h>

bool generated_is_in(const struct proc_mapping *mapped)
{
	static const char *const begins[] = {"/memfd:", "/anon_hugepage", "[anon:"};

	if (mapped->object)
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(mapped->path, begins[i], strlen(begins[i])))
			return true;
	return mapped->path[0] == '\0' || (mapped->path[0] != '[' && !reach_is_file(mapped->path));
}

static enum jit_found find(struct generated *generated, const struct image *image, uint64_t address,
                           struct jit_place *ret_place, uint32_t *ret_since)
{
	if (!generated->is_met || generated->pid != image->pid ||
	    generated->began_ns != image->start_mono_ns) {
		generated->is_met = true;
		generated->pid = image->pid;
		generated->began_ns = image->start_mono_ns;
		generated->number = jit_meet(generated->jit, image);
	}
	return jit_find(generated->jit, generated->number, address, ret_place, ret_since);
}

static uint32_t named(struct builder *builder, const struct jit_place *place)
{
	uint32_t location = builder_location(builder, jit_mapping(builder), jit_address(place));

	if (location && !builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, jit_function(builder, place), place->line);
	return location;
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
		if (generated->no_trampolines && jit_is_trampoline(&place))
			return 0;
		return named(generated->builder, &place);
	case JIT_REPLACED:
		jit_note_replaced(generated->jit);
		return builder_pseudo(generated->builder, JIT_REPLACED_FRAME);
	case JIT_UNKNOWN:
		break;
	}
	return generated->number ? unknown(generated, address, since)
	                         : builder_pseudo(generated->builder, "[jit]");
}
