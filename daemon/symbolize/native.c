/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions of native code. pprof takes an equal name and system_name to mean "not demangled yet",
 * so system_name is set only when it differs.
 */
#include "symbolize/native.h"
#include "base/bounds.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t native_label(struct builder *builder, const char *name)
{
	const struct function function = {.name = builder_text(builder, name)};

	return builder_function(builder, &function);
}

/* The last part of the path, limited so that an address still fits behind it. */
static struct text base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	return text_of(base, strnlen(base, MAX_PATH_BYTES - 32));
}

uint32_t native_frame(struct builder *builder, const char *path, const struct source_frame *frame)
{
	struct text base = base_name(path);
	struct function function = {.start_line = frame->start_line};
	char name[MAX_PATH_BYTES];

	if (frame->file)
		function.filename = builder_text(builder, frame->file);
	if (frame->function && frame->function[0]) {
		function.name = builder_text(builder, frame->readable ?: frame->function);
		if (frame->readable)
			function.system_name = builder_text(builder, frame->function);
		return builder_function(builder, &function);
	}
	if (!frame->function_address)
		return builder_function(builder, &NOTHING_KNOWN);
	snprintf(name, sizeof(name), "%.*s!sub_%" PRIx64, (int)(base.end - base.at), base.at,
	         frame->function_address);
	function.name = builder_text(builder, name);
	return builder_function(builder, &function);
}

uint32_t native_place(struct builder *builder, const char *path, uint64_t address)
{
	struct text base = base_name(path);
	char name[MAX_PATH_BYTES];

	/* "[vdso]" already has brackets. */
	if (base.end - base.at > 2 && *base.at == '[' && base.end[-1] == ']') {
		base.at++;
		base.end--;
	}
	if (base.at == base.end)
		base = text_of("unknown", strlen("unknown"));
	snprintf(name, sizeof(name), "[%.*s+0x%" PRIx64 "]", (int)(base.end - base.at), base.at,
	         address);
	return native_label(builder, name);
}

uint32_t native_line(const struct object *object, uint64_t address,
                     const struct source_frame *frame)
{
	if (object_is_code(object, address) || address < frame->function_address)
		return frame->line;
	return (uint32_t)(address - frame->function_address);
}

uint32_t native_lock(struct builder *builder, const char *path, const char *name, uint64_t offset)
{
	struct text base = path ? base_name(path) : text_of("", 0);
	char lock[MAX_PATH_BYTES];

	if (name)
		base = text_of(name, strnlen(name, MAX_PATH_BYTES - 64));
	if (base.at == base.end)
		snprintf(lock, sizeof(lock), "[lock 0x%" PRIx64 "]", offset);
	else if (offset)
		snprintf(lock, sizeof(lock), "[lock %.*s+0x%" PRIx64 "]", (int)(base.end - base.at),
		         base.at, offset);
	else
		snprintf(lock, sizeof(lock), "[lock %.*s]", (int)(base.end - base.at), base.at);
	return native_label(builder, lock);
}
