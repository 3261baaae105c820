/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * profile.proto, gzipped, which `go tool pprof` and related tools read. A protobuf message may be
 * written in pieces, one after the other. So each row becomes a message of its own, which is
 * deflated before the next one is made, and no second copy of the profile is ever in memory. Ids
 * are those of the tables, dense from 1, as some readers want them.
 */
#include "base/gzip.h"
#include "encode/encoder.h"
#include "encode/names.h"
#include "proto/profile.pb-c.h"

/* Strings that the format needs; they follow the profile's. */
#define LABEL(name) EXTRA(name, #name)
#define EXTRAS(EXTRA)      \
	EXTRA(pid, "pid")  \
	EXTRA(tid, "tid")  \
	TASK_LABELS(LABEL) \
	EXTRA(id, "id")    \
	EXTRA(unnamed, UNNAMED)

#define EXTRA(name, text) EXTRA_##name,
enum extra { EXTRAS(EXTRA) EXTRA_COUNT };
#undef EXTRA

#define EXTRA(name, text) text,
static const char *const extra_strings[] = {EXTRAS(EXTRA)};
#undef EXTRA
#undef LABEL

#define LABEL(name) +1
enum { MAX_LABELS = 2 TASK_LABELS(LABEL) };
#undef LABEL

struct writer {
	const struct profile *profile;
	struct gzip gzip;
	struct buf scratch; /* of one piece: a string, a call path or a location's lines */
};

static int64_t clamped(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int64_t extra(const struct writer *writer, enum extra which)
{
	return (int64_t)writer->profile->string_count + which;
}

static void put(struct writer *writer, const Perftools__Profiles__Profile *piece)
{
	uint8_t *at =
		gzip_reserve(&writer->gzip, perftools__profiles__profile__get_packed_size(piece));

	if (at)
		gzip_grown(&writer->gzip, perftools__profiles__profile__pack(piece, at));
}

static Perftools__Profiles__ValueType value_type(struct value_type from)
{
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;

	type.type = from.type;
	type.unit = from.unit;
	return type;
}

static void put_types(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->profile->type_count; i++) {
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__ValueType type = value_type(writer->profile->types[i]);

		piece.n_sample_type = 1;
		piece.sample_type = (Perftools__Profiles__ValueType *[]){&type};
		put(writer, &piece);
	}
}

static void add_label(Perftools__Profiles__Label *labels, Perftools__Profiles__Sample *sample,
                      int64_t key, uint32_t string)
{
	Perftools__Profiles__Label *label = &labels[sample->n_label];

	if (!string)
		return;
	perftools__profiles__label__init(label);
	label->key = key;
	label->str = string;
	sample->label[sample->n_label++] = label;
}

/* Numbers always have a unit: a reader drops a number that is 0 and has none. */
static void add_number(Perftools__Profiles__Label *labels, Perftools__Profiles__Sample *sample,
                       int64_t key, uint32_t number, int64_t unit)
{
	Perftools__Profiles__Label *label = &labels[sample->n_label];

	perftools__profiles__label__init(label);
	label->key = key;
	label->num = number;
	label->num_unit = unit;
	sample->label[sample->n_label++] = label;
}

static void put_sample(struct writer *writer, const struct sample *from)
{
	const struct task *task = &writer->profile->tasks[from->task];
	const struct node *nodes = writer->profile->nodes;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Label labels[MAX_LABELS], *label_places[MAX_LABELS];
	int64_t values[PROFILE_VALUES];

	buf_clear(&writer->scratch);
	for (uint32_t node = from->node; node; node = nodes[node].parent)
		buf_add(&writer->scratch, &(uint64_t){nodes[node].location}, sizeof(uint64_t));
	sample.n_location_id = writer->scratch.len / sizeof(uint64_t);
	sample.location_id = (void *)writer->scratch.data;
	for (uint32_t i = 0; i < writer->profile->type_count; i++)
		values[i] = clamped(from->values[i]);
	sample.n_value = writer->profile->type_count;
	sample.value = values;
	sample.label = label_places;
	add_number(labels, &sample, extra(writer, EXTRA_pid), task->pid, extra(writer, EXTRA_id));
	add_number(labels, &sample, extra(writer, EXTRA_tid), task->tid, extra(writer, EXTRA_id));
#define LABEL(name) add_label(labels, &sample, extra(writer, EXTRA_##name), task->name);
	TASK_LABELS(LABEL)
#undef LABEL
	piece.n_sample = 1;
	piece.sample = (Perftools__Profiles__Sample *[]){&sample};
	if (buf_error(&writer->scratch))
		writer->gzip.out->error = buf_error(&writer->scratch);
	put(writer, &piece);
}

static void put_mapping(struct writer *writer, uint32_t id)
{
	const struct mapping *from = &writer->profile->mappings[id];
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;

	mapping.id = id;
	mapping.memory_start = from->start;
	mapping.memory_limit = from->limit;
	mapping.file_offset = from->offset;
	mapping.filename = from->path;
	mapping.build_id = from->build_id;
	/* Set all of them, even if the mapping has no names. Otherwise a reader looks for the file
	 * on its own machine and uses whatever it finds under that path. */
	mapping.has_functions = true;
	mapping.has_filenames = true;
	mapping.has_line_numbers = true;
	mapping.has_inline_frames = true;
	piece.n_mapping = 1;
	piece.mapping = (Perftools__Profiles__Mapping *[]){&mapping};
	put(writer, &piece);
}

/* Makes the lines, and the pointers to them that the library wants. The pointers come first. */
static void take_lines(struct writer *writer, const struct location *from,
                       Perftools__Profiles__Location *location)
{
	size_t count = from->line_count ? from->line_count : 1;
	Perftools__Profiles__Line **places;
	Perftools__Profiles__Line *lines;

	buf_clear(&writer->scratch);
	places = buf_reserve(&writer->scratch, count * (sizeof(*places) + sizeof(*lines)));
	if (!places) {
		writer->gzip.out->error = buf_error(&writer->scratch);
		return;
	}
	lines = (void *)(places + count);
	for (size_t i = 0; i < count; i++) {
		const struct line *line = &writer->profile->lines[from->first_line + i];

		perftools__profiles__line__init(&lines[i]);
		lines[i].function_id =
			from->line_count ? line->function : writer->profile->function_count;
		lines[i].line = from->line_count ? line->number : 0;
		places[i] = &lines[i];
	}
	location->n_line = count;
	location->line = places;
}

static void put_location(struct writer *writer, uint32_t id)
{
	const struct location *from = &writer->profile->locations[id];
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;

	location.id = id;
	location.mapping_id = from->mapping;
	location.address = from->address;
	take_lines(writer, from, &location);
	piece.n_location = 1;
	piece.location = (Perftools__Profiles__Location *[]){&location};
	put(writer, &piece);
}

static void put_function(struct writer *writer, uint32_t id)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;

	function.id = id;
	function.name = extra(writer, EXTRA_unnamed);
	if (id < writer->profile->function_count) {
		const struct function *from = &writer->profile->functions[id];

		if (*profile_string(writer->profile, from->name))
			function.name = from->name;
		/* If both are equal, readers take the name as mangled still and cut away what is in
		 * <> and (). */
		if (from->system_name != from->name)
			function.system_name = from->system_name;
		function.filename = from->filename;
		function.start_line = from->start_line;
	}
	piece.n_function = 1;
	piece.function = (Perftools__Profiles__Function *[]){&function};
	put(writer, &piece);
}

static void put_string(struct writer *writer, const char *string)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	buf_clear(&writer->scratch);
	add_utf8(&writer->scratch, string);
	buf_add_char(&writer->scratch, '\0');
	if (buf_error(&writer->scratch)) {
		writer->gzip.out->error = buf_error(&writer->scratch);
		return;
	}
	piece.n_string_table = 1;
	piece.string_table = (char *[]){(char *)writer->scratch.data};
	put(writer, &piece);
}

static void put_header(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType period_type = value_type(profile->period_type);

	piece.time_nanos = clamped(profile->start_wall_ns);
	piece.duration_nanos = clamped(profile->duration_ns);
	piece.period_type = &period_type;
	piece.period = clamped(profile->period);
	if (profile->type_count)
		piece.default_sample_type = profile->types[profile->shown].type;
	put(writer, &piece);
	for (uint32_t i = 1; i < profile->comment_count; i++) {
		Perftools__Profiles__Profile comment = PERFTOOLS__PROFILES__PROFILE__INIT;

		comment.n_comment = 1;
		comment.comment = &(int64_t){profile->comments[i]};
		put(writer, &comment);
	}
}

static int encode_pprof(const struct profile *profile, const struct encode_options *options,
                        struct buf *out)
{
	struct writer writer = {.profile = profile};

	(void)options;
	gzip_begin(&writer.gzip, out);
	put_types(&writer);
	for (uint32_t i = 1; i < profile->sample_count; i++)
		put_sample(&writer, &profile->samples[i]);
	for (uint32_t i = 1; i < profile->mapping_count; i++)
		put_mapping(&writer, i);
	for (uint32_t i = 1; i < profile->location_count; i++)
		put_location(&writer, i);
	for (uint32_t i = 1; i <= profile->function_count; i++)
		put_function(&writer, i);
	for (uint32_t i = 0; i < profile->string_count; i++)
		put_string(&writer, profile_string(profile, i));
	for (size_t i = 0; i < EXTRA_COUNT; i++)
		put_string(&writer, extra_strings[i]);
	put_header(&writer);
	buf_release(&writer.scratch);
	gzip_end(&writer.gzip);
	return buf_error(out);
}

const struct encoder encoder_pprof = {
	.name = "pprof",
	.summary = "gzipped profile.proto, for go tool pprof and other tools that read its files",
	.content_type = "application/octet-stream",
	.suffix = ".pb.gz",
	.encode = encode_pprof,
};
