/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Small profiles of all time, made of samples with a state and a stack.
 */
#pragma once

#include "profile/builder.h"
#include "profile/select.h"

#include <check.h>

#define MS 1000000ULL

static inline struct builder *begin(void)
{
	struct builder *builder = builder_new();

	ck_assert_ptr_nonnull(builder);
	view_describe(VIEW_wall, builder);
	builder_time(builder, 1, 1000000000, 10000 * MS);
	return builder;
}

struct frame {
	enum mapping_kind kind;
	const char *name, *file;
};

static inline uint32_t push(struct builder *builder, uint32_t caller, const struct frame *frame)
{
	struct mapping mapping = {
		.kind = frame->kind,
		.path = builder_text(builder, frame->kind == MAPPING_KERNEL ? "[kernel]" : "/p"),
	};
	struct function function = {
		.name = builder_text(builder, frame->name),
		.filename = builder_text(builder, frame->file ?: ""),
	};
	uint32_t name = builder_function(builder, &function);
	uint32_t location =
		builder_location(builder, builder_mapping(builder, &mapping), 0x1000 + name);

	if (!builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, name, 1);
	return builder_node(builder, caller, location);
}

struct what {
	uint32_t tid;
	const char *state, *wait, *gil;
};

/* The frames are a root first, and end with one without a name. */
static inline void add(struct builder *builder, struct what what, const struct frame *frames,
                       uint64_t count, uint64_t ns)
{
	struct task task = {
		.pid = 1,
		.tid = what.tid,
		.state = builder_text(builder, what.state),
		.wait = builder_text(builder, what.wait ?: ""),
		.gil = builder_text(builder, what.gil ?: ""),
	};
	uint32_t node = 0;

	for (size_t i = 0; frames[i].name; i++)
		node = push(builder, node, &frames[i]);
	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){count, ns});
}

static inline struct profile *seal(struct builder *builder)
{
	struct profile *profile;

	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	builder_free(builder);
	return profile;
}

#define FRAMES(...) ((const struct frame[]){__VA_ARGS__, {0}})
#define USER(text)                     \
	{                              \
		MAPPING_FILE, text, "" \
	}
#define KERNEL(text)                     \
	{                                \
		MAPPING_KERNEL, text, "" \
	}
#define PYTHON(text, path)                      \
	{                                       \
		MAPPING_INTERPRETED, text, path \
	}

#define SLEEP(call) ((struct what){1, "sleep", call, ""})
#define RUNNING     ((struct what){1, "running", "", ""})
