/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The address of such a location is the hash of the name (FNV-1a): nobody looks it up.
 */
#include "profile/kernel_place.h"

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	return hash;
}

uint32_t kernel_label(struct builder *builder, const char *name)
{
	return builder_text(builder, name);
}

uint32_t kernel_location(struct builder *builder, const char *name)
{
	const struct mapping mapping = {
		.path = builder_text(builder, KERNEL_MAPPING),
		.kind = MAPPING_PSEUDO,
	};
	uint32_t location =
		builder_location(builder, builder_mapping(builder, &mapping), hash_of(name));
	struct function function;

	if (!location || builder_view(builder)->locations[location].line_count)
		return location;
	function = (struct function){.name = kernel_label(builder, name)};
	builder_line(builder, location, builder_function(builder, &function), 0);
	return location;
}
