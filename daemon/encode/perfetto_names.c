/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What samples of a trace refer to: names, files, frames and call stacks, each written once.
 */
#include "encode/encoder.h"
#include "encode/names.h"
#include "encode/perfetto.h"

#include <string.h>

static void put_interned(struct trace_writer *writer, Perfetto__Protos__InternedData *data)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	packet.interned_data = data;
	trace_put(writer, &packet);
}

static Perfetto__Protos__InternedString interned(struct trace_writer *writer, uint64_t iid,
                                                 const char *string)
{
	Perfetto__Protos__InternedString to = PERFETTO__PROTOS__INTERNED_STRING__INIT;

	to.has_iid = true;
	to.iid = iid;
	to.has_str = true;
	to.str.data = (uint8_t *)trace_text(writer, string);
	to.str.len = strlen((char *)to.str.data);
	return to;
}

static void put_function_name(struct trace_writer *writer, uint32_t iid, const char *name)
{
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__InternedString string = interned(writer, iid, name);

	data.n_function_names = 1;
	data.function_names = (Perfetto__Protos__InternedString *[]){&string};
	put_interned(writer, &data);
}

static void put_source_path(struct trace_writer *writer, uint32_t iid)
{
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__InternedString string;

	if (!iid || writer->sources_told[iid])
		return;
	writer->sources_told[iid] = true;
	string = interned(writer, iid, profile_string(writer->profile, iid));
	data.n_source_paths = 1;
	data.source_paths = (Perfetto__Protos__InternedString *[]){&string};
	put_interned(writer, &data);
}

static void put_functions(struct trace_writer *writer)
{
	const struct profile *profile = writer->profile;

	for (uint32_t i = 1; i < profile->function_count; i++) {
		put_function_name(writer, i, function_name(profile, i));
		put_source_path(writer, profile->functions[i].filename);
	}
	put_function_name(writer, profile->function_count, UNNAMED);
}

static void put_mapping(struct trace_writer *writer, uint32_t id)
{
	const struct mapping *from = &writer->profile->mappings[id];
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__InternedString path =
		interned(writer, id, profile_string(writer->profile, from->path));
	Perfetto__Protos__Mapping mapping = PERFETTO__PROTOS__MAPPING__INIT;

	mapping.has_iid = true;
	mapping.iid = id;
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &(uint64_t){id};
	data.n_mapping_paths = 1;
	data.mapping_paths = (Perfetto__Protos__InternedString *[]){&path};
	data.n_mappings = 1;
	data.mappings = (Perfetto__Protos__Mapping *[]){&mapping};
	put_interned(writer, &data);
}

/* A frame has the id of its line. The ids of locations without lines come after all lines. */
static uint64_t frame_id(const struct profile *profile, uint32_t location, uint32_t line)
{
	const struct location *from = &profile->locations[location];

	return from->line_count ? from->first_line + line : profile->line_count + location;
}

static void put_frame(struct trace_writer *writer, uint32_t location, uint32_t line)
{
	const struct profile *profile = writer->profile;
	const struct location *from = &profile->locations[location];
	enum mapping_kind kind = profile->mappings[from->mapping].kind;
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__Frame frame = PERFETTO__PROTOS__FRAME__INIT;

	frame.has_iid = frame.has_function_name_id = frame.has_mapping_id = frame.has_rel_pc = true;
	frame.iid = frame_id(profile, location, line);
	frame.mapping_id = from->mapping;
	frame.rel_pc = from->address;
	frame.function_name_id = profile->function_count;
	if (from->line_count) {
		const struct line *row = &profile->lines[from->first_line + line];

		frame.function_name_id = row->function;
		frame.source_path_iid = profile->functions[row->function].filename;
		frame.has_source_path_iid = frame.source_path_iid != 0;
		frame.line_number = row->number;
		frame.has_line_number = row->number != 0;
	}
	frame.has_kind = kind != MAPPING_PSEUDO && kind != MAPPING_INTERPRETED &&
	                 kind != MAPPING_LOCK && kind != MAPPING_JIT;
	frame.kind = kind == MAPPING_KERNEL ? PERFETTO__PROTOS__FRAME__KIND__KIND_KERNEL
	                                    : PERFETTO__PROTOS__FRAME__KIND__KIND_NATIVE;
	data.n_frames = 1;
	data.frames = (Perfetto__Protos__Frame *[]){&frame};
	put_interned(writer, &data);
}

static void put_frames(struct trace_writer *writer)
{
	const struct profile *profile = writer->profile;

	for (uint32_t i = 1; i < profile->location_count; i++) {
		uint32_t lines = profile->locations[i].line_count;

		for (uint32_t line = 0; line < (lines ? lines : 1); line++)
			put_frame(writer, i, line);
	}
}

void trace_put_names(struct trace_writer *writer)
{
	put_functions(writer);
	for (uint32_t i = 1; i < writer->profile->mapping_count; i++)
		put_mapping(writer, i);
	put_frames(writer);
}

/* The root comes first. A location has the innermost inlined call first; here inlined calls come
 * after their callers. */
void trace_put_callstack(struct trace_writer *writer, uint32_t leaf)
{
	const struct profile *profile = writer->profile;
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__Callstack callstack = PERFETTO__PROTOS__CALLSTACK__INIT;
	uint64_t *ids;
	size_t count;

	if (!leaf || writer->nodes_told[leaf])
		return;
	writer->nodes_told[leaf] = true;
	buf_clear(&writer->scratch);
	for (uint32_t node = leaf; node; node = profile->nodes[node].parent) {
		uint32_t location = profile->nodes[node].location;
		uint32_t lines = profile->locations[location].line_count;

		for (uint32_t line = 0; line < (lines ? lines : 1); line++)
			buf_add(&writer->scratch, &(uint64_t){frame_id(profile, location, line)},
			        sizeof(*ids));
	}
	ids = (void *)writer->scratch.data;
	count = writer->scratch.len / sizeof(*ids);
	for (size_t i = 0; i < count / 2; i++) {
		uint64_t id = ids[i];

		ids[i] = ids[count - 1 - i];
		ids[count - 1 - i] = id;
	}
	callstack.has_iid = true;
	callstack.iid = leaf;
	callstack.n_frame_ids = count;
	callstack.frame_ids = ids;
	data.n_callstacks = 1;
	data.callstacks = (Perfetto__Protos__Callstack *[]){&callstack};
	put_interned(writer, &data);
}
