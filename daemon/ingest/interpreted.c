/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "ingest/interpreted.h"

#include <stdio.h>

static uint32_t add_function(struct builder *builder, const struct runtime_frame *frame)
{
	/* It has no linker name, so readers do not try to demangle it. */
	const struct function function = {
		.name = builder_text(builder, frame->function),
		.filename = builder_text(builder, frame->file),
		.start_line = frame->first_line,
	};

	return builder_function(builder, &function);
}

static uint32_t add_mapping(struct builder *builder, const char *name)
{
	const struct mapping mapping = {
		.path = builder_text(builder, name),
		.kind = MAPPING_INTERPRETED,
	};

	return builder_mapping(builder, &mapping);
}

uint32_t interpreted_mapping(struct builder *builder, const struct runtime_version *version)
{
	char text[RUNTIME_VERSION_BYTES], name[64];

	runtime_version_text(version, text);
	snprintf(name, sizeof(name), "[%s %s]", version->runtime->name, text);
	return add_mapping(builder, name);
}

uint32_t interpreted_location(struct builder *builder, uint32_t mapping,
                              const struct runtime_frame *frame)
{
	uint32_t location = builder_location(builder, mapping, frame->identity);

	if (location && !builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, add_function(builder, frame), frame->line);
	return location;
}

uint32_t interpreted_unknown(struct builder *builder, const char *runtime)
{
	char name[64];

	snprintf(name, sizeof(name), "[%s: code not known]", runtime);
	return builder_location(builder, add_mapping(builder, name), 0);
}
