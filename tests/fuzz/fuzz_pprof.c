/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Random profiles through every encoder. The pprof output must unpack and obey the rules of its
 * readers. The input is a list of operations on a builder.
 */
#include "base/text.h"
#include "encode/encoder.h"
#include "encode/grouping.h"
#include "profile/select.h"
#include "proto/profile.pb-c.h"

#include <string.h>
#include <zlib.h>

/* Clang's fuzzer calls this function and has no header for it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_PLAIN_BYTES = 4 << 20, MAX_INPUT_BYTES = 4096 };

struct input {
	const uint8_t *at, *end;
};

static uint8_t byte(struct input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

/* An id of a table that has `count` entries; 0 only when there is no other. */
static uint32_t pick(struct input *input, uint32_t count)
{
	return count > 1 ? 1 + byte(input) % (count - 1) : 0;
}

static uint32_t string(struct input *input, struct builder *builder)
{
	size_t len = byte(input) % 8, left = (size_t)(input->end - input->at);
	const char *bytes = (const char *)input->at;

	if (len > left)
		len = left;
	input->at += len;
	return builder_string(builder, bytes, len);
}

static void add_location(struct input *input, struct builder *builder)
{
	const struct profile *view = builder_view(builder);
	uint32_t id = builder_location(builder, byte(input) % view->mapping_count, byte(input));

	view = builder_view(builder);
	if (view->locations[id].line_count || view->function_count < 2)
		return;
	for (uint32_t lines = byte(input) % 4; lines; lines--)
		builder_line(builder, id, pick(input, view->function_count), byte(input));
}

static void add_thing(struct input *input, struct builder *builder)
{
	const struct profile *view = builder_view(builder);
	struct mapping mapping = {0};
	struct function function = {0};
	struct task task = {0};

	switch (byte(input) % 7) {
	case 0:
		mapping.path = string(input, builder);
		mapping.kind = byte(input) % 4;
		builder_mapping(builder, &mapping);
		return;
	case 1:
		function.name = string(input, builder);
		function.system_name = string(input, builder);
		function.filename = string(input, builder);
		builder_function(builder, &function);
		return;
	case 2:
		task.pid = byte(input);
		task.parent = byte(input);
		task.gil = string(input, builder);
		task.comm = string(input, builder);
		task.thread = string(input, builder);
		task.unit = string(input, builder);
		task.container = string(input, builder);
		builder_task(builder, &task);
		return;
	case 3:
		add_location(input, builder);
		return;
	case 4:
		if (view->location_count > 1)
			builder_node(builder, byte(input) % view->node_count,
			             pick(input, view->location_count));
		return;
	case 5:
		builder_sample(builder, byte(input) % view->node_count,
		               byte(input) % view->task_count,
		               (uint64_t[PROFILE_VALUES]){byte(input), byte(input)});
		return;
	default:
		if (view->location_count > 1)
			builder_move(builder, pick(input, view->location_count),
			             byte(input) % view->mapping_count, byte(input));
		return;
	}
}

static void require(bool condition)
{
	if (!condition)
		__builtin_trap();
}

static void check_pprof(const struct buf *out)
{
	_cleanup_free_ uint8_t *plain = malloc(MAX_PLAIN_BYTES);
	z_stream stream = {.next_in = out->data,
	                   .avail_in = (unsigned int)out->len,
	                   .next_out = plain,
	                   .avail_out = MAX_PLAIN_BYTES};
	Perftools__Profiles__Profile *message;

	require(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK);
	require(inflate(&stream, Z_FINISH) == Z_STREAM_END);
	inflateEnd(&stream);
	message = perftools__profiles__profile__unpack(NULL, stream.total_out, plain);
	require(message && message->n_string_table && !*message->string_table[0]);
	for (size_t i = 0; i < message->n_string_table; i++) {
		size_t len = strlen(message->string_table[i]);

		require(text_utf8_prefix(message->string_table[i], len) == len);
	}
	for (size_t i = 0; i < message->n_sample; i++) {
		const Perftools__Profiles__Sample *sample = message->sample[i];

		require(sample->n_value == message->n_sample_type);
		for (size_t k = 0; k < sample->n_location_id; k++)
			require(sample->location_id[k] - 1 < message->n_location);
	}
	for (size_t i = 0; i < message->n_location; i++) {
		const Perftools__Profiles__Location *location = message->location[i];

		require(location->id == i + 1 && location->mapping_id <= message->n_mapping);
		require(location->n_line);
		for (size_t k = 0; k < location->n_line; k++)
			require(location->line[k]->function_id - 1 < message->n_function);
	}
	for (size_t i = 0; i < message->n_function; i++)
		require(message->function[i]->id == i + 1 && message->function[i]->name);
	for (size_t i = 0; i < message->n_mapping; i++)
		require(message->mapping[i]->id == i + 1);
	perftools__profiles__profile__free_unpacked(message, NULL);
}

static const char *source_line(void *ctx, const char *file, uint32_t line)
{
	(void)ctx;
	require(*file && line);
	return file;
}

/* No row has more than the total, nor more time of its own than including its callees. */
static void check_groups(const struct profile *profile, enum grouping by)
{
	_cleanup_(groups_release) struct groups groups = {0};
	uint64_t total = 0, flat = 0;

	require(!groups_count(profile, by, 0, &groups));
	for (uint32_t i = 1; i < profile->sample_count; i++)
		total += profile->samples[i].values[0];
	for (uint32_t i = 0; i < groups.count; i++) {
		require(groups.rows[i].flat <= groups.rows[i].cum && groups.rows[i].cum <= total);
		flat += groups.rows[i].flat;
	}
	require(flat <= total);
}

static void encode_all(const struct profile *profile)
{
	struct encode_options options = {.sort = SORT_CUM, .rows = 5, .source_line = source_line};

	for (options.by = 0; options.by < GROUPING_COUNT; options.by++) {
		_cleanup_(buf_release) struct buf out = BUF_INIT;

		require(!encoder_text.encode(profile, &options, &out));
		check_groups(profile, options.by);
	}
	options.by = 0;

	for (size_t i = 0; encoders[i]; i++) {
		_cleanup_(buf_release) struct buf out = BUF_INIT;

		require(!encoders[i]->encode(profile, &options, &out));
		if (encoders[i] == &encoder_pprof)
			check_pprof(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, data + (size < MAX_INPUT_BYTES ? size : MAX_INPUT_BYTES)};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(builder_freep) struct builder *merged = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(profile_unrefp) struct profile *selected = NULL;
	struct selection selection = {.no_kernel = byte(&input) & 1, .idle = true};

	selection.pid_count = byte(&input) & 1;
	selection.pids[0] = byte(&input);
	selection.children = selection.pid_count && byte(&input) & 1;
	selection.loops = byte(&input) % 3;
	selection.container_count = byte(&input) % 8 == 0;
	selection.containers[0] = "0123456789abcdef";
	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "cpu", "nanoseconds");
	builder_ticks(builder, &(struct ticks){.total = 9, .idle = byte(&input)});
	while (input.at < input.end)
		add_thing(&input, builder);
	require(!builder_seal(builder, &profile));
	encode_all(profile);
	require(!select_merge(merged, (struct profile *[]){profile, profile}, 2, &selection));
	require(!builder_seal(merged, &selected));
	encode_all(selected);
	return 0;
}
