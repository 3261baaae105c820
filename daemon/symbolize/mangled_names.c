/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Works on strings, which are few: a GPU kernel's location and all its tasks share one.
 */
#include "symbolize/mangled_names.h"

#include "names/mangled.h"
#include "profile/kernel_place.h"

#include <errno.h>
#include <string.h>

/* Limit of a readable name. A mangled name of a few hundred bytes may expand to 64 KiB. */
enum { MAX_READABLE = 4096 };

struct mangled_names {
	struct builder *builder;
	uint32_t known; /* number of strings that the profile had before */
	/* Indexed by those strings: the readable name; WANTED while asking; 0: no other name. */
	uint32_t *readable;
	uint32_t *wanted; /* the mangled strings */
	size_t count;
};

enum { WANTED = 1 };

static void want(struct mangled_names *names, uint32_t string)
{
	if (names->readable[string] ||
	    !mangled_begins(profile_string(builder_view(names->builder), string)))
		return;
	names->readable[string] = WANTED;
	names->wanted[names->count++] = string;
}

/* The function of a location of the kernel or of a GPU kernel; NULL for all other locations. */
static const struct function *function_of(const struct profile *profile, uint32_t id)
{
	const struct location *location = &profile->locations[id];
	const struct mapping *mapping = &profile->mappings[location->mapping];

	if (location->line_count != 1 ||
	    (mapping->kind != MAPPING_KERNEL &&
	     strcmp(profile_string(profile, mapping->path), KERNEL_MAPPING) != 0))
		return NULL;
	return &profile->functions[profile->lines[location->first_line].function];
}

static void collect(struct mangled_names *names)
{
	const struct profile *profile = builder_view(names->builder);

	for (uint32_t id = 1; id < profile->location_count; id++) {
		const struct function *function = function_of(profile, id);
		if (function && !function->system_name)
			want(names, function->name);
	}
	for (uint32_t id = 1; id < profile->task_count; id++)
		want(names, profile->tasks[id].kernel);
}

static int ask(struct mangled_names *names, struct names_client *client)
{
	const struct profile *profile = builder_view(names->builder);
	_cleanup_free_ const char **texts = calloc(names->count, sizeof(*texts));
	struct readable readable;

	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++)
		texts[i] = profile_string(profile, names->wanted[i]);
	int err = names_client_readable(client, texts, names->count, &readable);
	for (size_t i = 0; i < names->count; i++) {
		const char *text = err ? NULL : readable_text(&readable, i);
		names->readable[names->wanted[i]] =
			text ? builder_string(names->builder, text, strnlen(text, MAX_READABLE))
			     : 0;
	}
	readable_release(&readable);
	return err;
}

/* The readable name of a string; 0: none. */
static uint32_t readable_of(const struct mangled_names *names, uint32_t string)
{
	return string < names->known ? names->readable[string] : 0;
}

static void rename_locations(struct mangled_names *names)
{
	struct builder *builder = names->builder;
	uint32_t count = builder_view(builder)->location_count;

	for (uint32_t id = 1; id < count; id++) {
		const struct function *known = function_of(builder_view(builder), id);
		struct function function = known ? *known : (struct function){0};
		uint32_t name = readable_of(names, function.name);

		if (!name || function.system_name)
			continue;
		function.system_name = function.name;
		function.name = name;
		builder_rename(builder, id, builder_function(builder, &function));
	}
}

static void rename_tasks(struct mangled_names *names)
{
	uint32_t count = builder_view(names->builder)->task_count;

	for (uint32_t id = 1; id < count; id++) {
		struct task task = builder_view(names->builder)->tasks[id];

		task.kernel = readable_of(names, task.kernel);
		if (task.kernel)
			builder_change_task(names->builder, id, &task);
	}
}

static int read_names(struct mangled_names *names, struct names_client *client)
{
	collect(names);
	if (!names->count)
		return 0;
	int err = ask(names, client);
	if (err < 0)
		return err;
	rename_locations(names);
	rename_tasks(names);
	return builder_error(names->builder);
}

int mangled_names_read(struct names_client *client, struct builder *builder)
{
	uint32_t known = builder_view(builder)->string_count;
	struct mangled_names names = {
		.builder = builder,
		.known = known,
		.readable = calloc(known, sizeof(uint32_t)),
		.wanted = calloc(known, sizeof(uint32_t)),
	};
	int err = names.readable && names.wanted ? read_names(&names, client) : -ENOMEM;

	free(names.readable);
	free(names.wanted);
	return err;
}
