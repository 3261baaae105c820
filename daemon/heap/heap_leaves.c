/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A sample goes to the first caller that does not belong to an allocator.
 */
#include "heap/heap_leaves.h"

#include "allocators/leaves.h"

/* A frame with several functions, of which one was inlined into the other, is an allocator's if all
 * of them are. */
static bool is_allocators(const struct profile *profile, uint32_t location)
{
	const struct location *at = &profile->locations[location];

	for (uint32_t i = 0; i < at->line_count; i++) {
		const struct line *line = &profile->lines[at->first_line + i];
		const struct function *function = &profile->functions[line->function];
		uint32_t name = function->system_name ? function->system_name : function->name;

		if (!heap_leaf_is_allocators(profile_string(profile, name)))
			return false;
	}
	return at->line_count > 0;
}

void heap_leaves_leave_off(struct builder *builder)
{
	const struct profile *profile = builder_view(builder);

	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		uint32_t node = sample->node;

		while (profile->nodes[node].parent &&
		       is_allocators(profile, profile->nodes[node].location))
			node = profile->nodes[node].parent;
		if (node != sample->node)
			builder_move_sample(builder, i, node, sample->task);
	}
}
