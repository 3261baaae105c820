/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Copies a file's answers into a profile.
 */
#include "symbolize/file_names_private.h"

#include "symbolize/native.h"

#include <errno.h>

static uint32_t copy_function(struct naming *naming, uint32_t id)
{
	const struct profile *from = builder_view(naming->file->answers);
	const struct function *known = &from->functions[id];

	if (!naming->functions[id]) {
		const struct function function = {
			.name = builder_text(naming->builder, profile_string(from, known->name)),
			.system_name = builder_text(naming->builder,
		                                    profile_string(from, known->system_name)),
			.filename = builder_text(naming->builder,
		                                 profile_string(from, known->filename)),
			.start_line = known->start_line,
		};
		naming->functions[id] = builder_function(naming->builder, &function);
	}
	return naming->functions[id];
}

/* What an address is called of which nothing is known. */
static uint32_t place_of(const struct naming *naming, uint64_t address)
{
	return naming->are_locks ? native_lock(naming->builder, naming->path, NULL, address)
	                         : native_place(naming->builder, naming->path, address);
}

static void copy_answer(struct naming *naming, size_t index)
{
	const struct wanted *wanted = &naming->wanted[index];
	const struct profile *from = builder_view(naming->file->answers);
	const struct location *answer = &from->locations[naming->answers[index]];
	const struct line *lines = &from->lines[answer->first_line];
	struct builder *builder = naming->builder;

	if (!answer->line_count || !from->functions[lines->function].name) {
		builder_line(builder, wanted->location, place_of(naming, wanted->address), 0);
		return;
	}
	if (naming->are_locks) {
		const char *name = profile_string(from, from->functions[lines->function].name);

		builder_line(builder, wanted->location,
		             native_lock(builder, NULL, name, lines->number), 0);
		return;
	}
	for (uint32_t i = 0; i < answer->line_count; i++)
		builder_line(builder, wanted->location, copy_function(naming, lines[i].function),
		             lines[i].number);
}

int naming_copy_answers(struct naming *naming)
{
	uint32_t count = builder_view(naming->file->answers)->function_count;

	naming->functions = calloc(count, sizeof(*naming->functions));
	if (!naming->functions)
		return -ENOMEM;
	for (size_t i = 0; i < naming->count; i++)
		copy_answer(naming, i);
	return builder_error(naming->builder);
}

void naming_copy_places(struct naming *naming)
{
	for (size_t i = 0; i < naming->count; i++)
		builder_line(naming->builder, naming->wanted[i].location,
		             place_of(naming, naming->wanted[i].address), 0);
}
