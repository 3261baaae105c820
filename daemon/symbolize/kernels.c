/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A kernel `void k(int)` is launched by `__device_stub__Z1ki(int)`, which has no other purpose. A
 * kernel from a template has another function around it, `__wrapper__device_stub_k<int>(int&)`, and
 * the inner function may be inlined into it.
 */
#include "symbolize/kernels.h"

#include "names/mangled.h"
#include "profile/kernel_place.h"

#include <string.h>

#define STUB    "__device_stub__"
#define WRAPPER "__wrapper__device_stub_"

enum {
	NEAR_FRAMES = 16, /* the runtime and the driver have fewer between stub and probe */
	MAX_NAME = 4096,
};

static bool copy(const char *prefix, const char *name, size_t len, char *ret_name, size_t size)
{
	size_t before = strlen(prefix);

	if (!len || before + len >= size)
		return false;
	memcpy(ret_name, prefix, before);
	memcpy(ret_name + before, name, len);
	ret_name[before + len] = '\0';
	return true;
}

/* Length of a function's name without parameters: up to the last parenthesis that opens outside
 * template arguments. Kernels are not operators, so every '<' and '(' is a bracket. */
static size_t unparametrized(const char *name)
{
	size_t len = strlen(name), depth = 0, at = len;

	for (size_t i = 0; i < len; i++) {
		if (strchr("<(", name[i])) {
			if (!depth++ && name[i] == '(')
				at = i;
		} else if (strchr(">)", name[i]) && depth) {
			depth--;
		}
	}
	return at;
}

bool kernels_of_stub(const char *function, char *ret_name, size_t size)
{
	/* The wrapper is tried first: its name also contains STUB if the kernel's name begins with
	 * an underscore. */
	const char *wrapper = strstr(function, WRAPPER), *stub = strstr(function, STUB);

	/* In a mangled function name more text follows the kernel's name without a separator. */
	if (mangled_start(function))
		return false;
	if (wrapper) {
		wrapper += strlen(WRAPPER);
		/* Without its parameters, which are references to the kernel's. */
		return copy("", wrapper, unparametrized(wrapper), ret_name, size);
	}
	if (!stub)
		return false;
	stub += strlen(STUB);
	size_t len = strspn(stub, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                          "0123456789_$.");
	/* The underscore of _Z is the last one of STUB. */
	return copy(*stub == 'Z' ? "_" : "", stub, len, ret_name, size);
}

/* The name of function `at` of a location, inlined functions first; "" after the last. */
static const char *function_name(const struct profile *profile, const struct location *location,
                                 uint32_t at)
{
	if (at >= location->line_count)
		return "";
	const struct line *line = &profile->lines[location->first_line + at];
	return profile_string(profile, profile->functions[line->function].name);
}

static bool is_unnamed(const struct profile *profile, const struct node *leaf)
{
	const struct location *location = &profile->locations[leaf->location];
	const char *path = profile_string(profile, profile->mappings[location->mapping].path);

	return !strcmp(path, KERNEL_MAPPING) &&
	       !strncmp(function_name(profile, location, 0), KERNEL_UNNAMED_PREFIX,
	                strlen(KERNEL_UNNAMED_PREFIX));
}

static bool find_stub(const struct profile *profile, uint32_t node, char name[MAX_NAME])
{
	for (size_t left = NEAR_FRAMES; node && left; left--) {
		const struct location *location =
			&profile->locations[profile->nodes[node].location];

		for (uint32_t at = 0; at < location->line_count; at++)
			if (kernels_of_stub(function_name(profile, location, at), name, MAX_NAME))
				return true;
		node = profile->nodes[node].parent;
	}
	return false;
}

static void name_launch(struct builder *builder, uint32_t id, uint32_t parent, const char *name)
{
	const struct profile *profile = builder_view(builder);
	struct task task = profile->tasks[profile->samples[id].task];
	uint32_t node;

	node = builder_node(builder, parent, kernel_location(builder, name));
	task.kernel = kernel_label(builder, name);
	builder_move_sample(builder, id, node, builder_task(builder, &task));
}

int kernels_name(struct builder *builder)
{
	uint32_t count = builder_view(builder)->sample_count;
	char name[MAX_NAME];

	for (uint32_t id = 1; id < count && !builder_error(builder); id++) {
		const struct profile *profile = builder_view(builder);
		const struct node leaf = profile->nodes[profile->samples[id].node];

		if (leaf.location && is_unnamed(profile, &leaf) &&
		    find_stub(profile, leaf.parent, name))
			name_launch(builder, id, leaf.parent, name);
	}
	return builder_error(builder);
}
