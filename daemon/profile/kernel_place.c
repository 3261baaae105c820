/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The address of such a location is the hash of the name, and is not looked up.
 */
#include "profile/kernel_place.h"

#include "base/hash.h"

#include <string.h>

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
	uint32_t location = builder_location(builder, builder_mapping(builder, &mapping),
	                                     hash_bytes(HASH_START, name, strlen(name)));
	struct function function;

	if (!location || builder_view(builder)->locations[location].line_count)
		return location;
	function = (struct function){.name = kernel_label(builder, name)};
	builder_line(builder, location, builder_function(builder, &function), 0);
	return location;
}
