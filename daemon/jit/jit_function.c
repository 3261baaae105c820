/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_function.h"

#include "base/hash.h"
#include "jit/jit_name.h"

#include <string.h>

static uint32_t add_text(struct builder *builder, struct text text)
{
	return builder_string(builder, text.at, (size_t)(text.end - text.at));
}

static struct jit_name name_of(const struct jit_place *place)
{
	return jit_name_split(text_of(place->name, strlen(place->name)));
}

uint32_t jit_function(struct builder *builder, const struct jit_place *place)
{
	const struct jit_name name = name_of(place);
	struct function function = {
		.name = add_text(builder, name.function),
		.filename = add_text(builder, name.file),
		.start_line = name.line ?: place->first_line,
	};

	if (!function.filename)
		function.filename = builder_text(builder, place->file);
	return builder_function(builder, &function);
}

uint32_t jit_mapping(struct builder *builder)
{
	const struct mapping mapping = {
		.path = builder_text(builder, "[jit]"),
		.kind = MAPPING_JIT,
	};

	return builder_mapping(builder, &mapping);
}

uint64_t jit_address(const struct jit_place *place)
{
	/* A program may choose its names so that they collide with those of others. */
	uint64_t hash = hash_bytes(hash_seed(), place->name, strlen(place->name) + 1);

	hash = hash_bytes(hash, place->file, strlen(place->file));
	return hash_bytes(hash, &place->line, sizeof(place->line));
}

bool jit_is_trampoline(const struct jit_place *place)
{
	return name_of(place).is_trampoline;
}
