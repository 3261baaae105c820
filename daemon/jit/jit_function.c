/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_function.h"

#include "jit/jit_name.h"

#include <string.h>

static uint32_t add_text(struct builder *builder, struct text text)
{
	return builder_string(builder, text.at, (size_t)(text.end - text.at));
}

uint32_t jit_function(struct builder *builder, const char *name)
{
	const struct jit_name split = jit_name_split(text_of(name, strlen(name)));
	const struct function function = {
		.name = add_text(builder, split.function),
		.filename = add_text(builder, split.file),
		.start_line = split.line,
	};

	return builder_function(builder, &function);
}

bool jit_is_trampoline(const char *name)
{
	return jit_name_split(text_of(name, strlen(name))).is_trampoline;
}
