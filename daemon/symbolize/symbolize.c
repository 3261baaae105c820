/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The walk over a profile's locations. Each kind of mapping has one function here that ends in one
 * builder_line(), so every location has a name afterwards, if only an honest placeholder.
 */
#include "symbolize/symbolize.h"
#include "base/bounds.h"
#include "base/clock.h"
#include "symbolize/kernel.h"
#include "symbolize/native.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Modules and BPF programs come and go; reading kallsyms takes some tens of milliseconds. */
#define KERNEL_MAX_AGE_NS (60 * NSEC_PER_SEC)

struct symbolizer {
	struct store *store;
	struct symtab *kernel; /* NULL when it could not be read, or not yet */
	int kernel_error;      /* why */
	uint64_t kernel_ns;    /* when it was tried; 0: never */
	/* Of the run under way. */
	bool kernel_noted;
};

struct symbolizer *symbolizer_new(struct store *store)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (symbolizer)
		symbolizer->store = store;
	return symbolizer;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	symtab_free(symbolizer->kernel);
	free(symbolizer);
}

static int name_file(struct symbolizer *symbolizer, struct builder *builder, uint32_t id,
                     const struct location *location, const struct mapping *mapping)
{
	_cleanup_(object_unrefp) struct object *object =
		mapping->object ? store_get(symbolizer->store, mapping->object) : NULL;
	struct symbol symbol;

	int err = object ? object_symbol(object, location->address, &symbol) : -ENOENT;
	if (err == -ENOMEM)
		return err;
	if (err == 0) {
		builder_line(builder, id, native_function(builder, symbol.name), 0);
		return 0;
	}
	/* The builder's strings move while it makes the new one from this one. */
	_cleanup_free_ char *path = strdup(profile_string(builder_view(builder), mapping->path));
	if (!path)
		return -ENOMEM;
	builder_line(builder, id, native_place(builder, path, location->address), 0);
	return 0;
}

static void refresh_kernel(struct symbolizer *symbolizer)
{
	uint64_t now = clock_mono_ns();
	struct symtab *fresh;

	if (symbolizer->kernel_ns && now - symbolizer->kernel_ns < KERNEL_MAX_AGE_NS)
		return;
	symbolizer->kernel_ns = now;
	symbolizer->kernel_error = kallsyms_read(&fresh);
	if (symbolizer->kernel_error < 0)
		return;
	symtab_free(symbolizer->kernel);
	symbolizer->kernel = fresh;
}

static void note_hidden(struct symbolizer *symbolizer, struct builder *builder)
{
	char comment[256];

	if (symbolizer->kernel_noted)
		return;
	symbolizer->kernel_noted = true;
	snprintf(comment, sizeof(comment), "kernel function names are hidden: /proc/kallsyms: %s%s",
	         strerror(-symbolizer->kernel_error),
	         symbolizer->kernel_error == -EACCES || symbolizer->kernel_error == -EPERM
	                 ? " (see kernel.kptr_restrict; profd needs CAP_SYSLOG)"
	                 : "");
	builder_comment(builder, comment);
}

static void move_to_module(struct builder *builder, uint32_t id, const char *module)
{
	char path[256];

	snprintf(path, sizeof(path), "[%s]", module);
	const struct mapping mapping = {
		.path = builder_text(builder, path),
		.kind = MAPPING_KERNEL,
	};
	builder_move(builder, id, builder_mapping(builder, &mapping));
}

static int name_kernel(struct symbolizer *symbolizer, struct builder *builder, uint32_t id,
                       const struct location *location)
{
	struct symbol symbol;

	refresh_kernel(symbolizer);
	if (!symbolizer->kernel) {
		if (symbolizer->kernel_error == -ENOMEM)
			return -ENOMEM;
		note_hidden(symbolizer, builder);
		builder_line(builder, id, native_label(builder, "[kernel]"), 0);
		return 0;
	}
	if (!symtab_find(symbolizer->kernel, location->address, &symbol)) {
		builder_line(builder, id, native_place(builder, "kernel", location->address), 0);
		return 0;
	}
	builder_line(builder, id, native_function(builder, symbol.name), 0);
	if (symbol.module)
		move_to_module(builder, id, symbol.module);
	return 0;
}

static int name_pseudo(struct builder *builder, uint32_t id, const struct mapping *mapping)
{
	/* Its own string, so nothing is copied. */
	const struct function function = {
		.name = mapping->path ? mapping->path : builder_text(builder, "[unknown]"),
	};

	builder_line(builder, id, builder_function(builder, &function), 0);
	return 0;
}

static int name_location(struct symbolizer *symbolizer, struct builder *builder, uint32_t id)
{
	const struct profile *profile = builder_view(builder);
	/* Copies: the tables move when a name is added. */
	const struct location location = profile->locations[id];
	const struct mapping mapping = profile->mappings[location.mapping];

	if (location.line_count)
		return 0;
	if (!location.mapping)
		return name_pseudo(builder, id, &(struct mapping){0});
	switch (mapping.kind) {
	case MAPPING_FILE:
		return name_file(symbolizer, builder, id, &location, &mapping);
	case MAPPING_KERNEL:
		return name_kernel(symbolizer, builder, id, &location);
	case MAPPING_PSEUDO:
		return name_pseudo(builder, id, &mapping);
	}
	return -EINVAL;
}

int symbolizer_run(struct symbolizer *symbolizer, struct builder *builder)
{
	uint32_t count = builder_view(builder)->location_count;

	symbolizer->kernel_noted = false;
	for (uint32_t id = 1; id < count; id++) {
		int err = name_location(symbolizer, builder, id);
		if (err < 0)
			return err;
	}
	return 0;
}
