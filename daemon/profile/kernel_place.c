/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The address of such a location is the hash of the name (FNV-1a): nobody looks it up.
 */
#include "profile/kernel_place.h"

#include "base/demangle.h"

#include <string.h>

/* Of a name for people. A few hundred bytes of a mangled one may say 64 KiB. */
enum { MAX_READABLE = 4096 };

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	return hash;
}

uint32_t kernel_label(struct builder *builder, const char *name)
{
	_cleanup_free_ char *readable = demangle(name);

	if (!readable)
		return builder_text(builder, name);
	return builder_string(builder, readable, strnlen(readable, MAX_READABLE));
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
	/* The same name twice means "still to be demangled" to readers. */
	if (function.name != builder_text(builder, name))
		function.system_name = builder_text(builder, name);
	builder_line(builder, location, builder_function(builder, &function), 0);
	return location;
}
