/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Everything goes through a builder, so that whatever the bytes are, a profile is what profile.h
 * says.
 */
#include "base/gzip.h"
#include "profile/builder.h"
#include "past/packed_private.h"
#include "proto/slice.pb-c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The builder's ids, by the message's ids. */
struct unpacking {
	const Profd__Slice *message;
	const struct packed_host *host;
	struct builder *builder;
	bool is_bad; /* an id is out of range */
#define TABLE(table, column) uint32_t *table##s, table##_count;
	TABLES(TABLE)
#undef TABLE
	uint32_t *strings, string_count;
};

static uint32_t id_of(struct unpacking *unpacking, const uint32_t *ids, uint32_t count, uint32_t id)
{
	if (id < count)
		return ids[id];
	unpacking->is_bad = true;
	return 0;
}

#define ID(table, id) id_of(unpacking, unpacking->table##s, unpacking->table##_count, id)

static bool is_this_boot(const struct unpacking *unpacking)
{
	return unpacking->message->boot == unpacking->host->boot;
}

static bool add_strings(struct unpacking *unpacking)
{
	const char *at = (const char *)unpacking->message->strings.data;
	size_t left = unpacking->message->strings.len;
	uint32_t count = 1;

	if (left && at[left - 1])
		return false;
	for (size_t i = 0; i < left; i++)
		count += !at[i];
	unpacking->string_count = count;
	unpacking->strings = calloc(count, sizeof(uint32_t));
	for (uint32_t i = 1; i < count && unpacking->strings; i++) {
		unpacking->strings[i] = builder_text(unpacking->builder, at);
		at += strlen(at) + 1;
	}
	return unpacking->strings;
}

/* The value of a column that is there or absent. */
#define CELL(table, member, row) \
	(message->n_##table##_##member ? message->table##_##member[(row)-1] : 0)

static void add_mappings(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;

	for (uint32_t i = 1; i < unpacking->mapping_count; i++) {
		struct mapping mapping = {
			.path = ID(string, CELL(mapping, path, i)),
			.build_id = ID(string, CELL(mapping, build_id, i)),
			.start = CELL(mapping, start, i),
			.limit = CELL(mapping, limit, i),
			.offset = CELL(mapping, offset, i),
			.kind = CELL(mapping, kind, i),
		};

		unpacking->is_bad |= mapping.kind >= MAPPING_KINDS;
		if (mapping.kind == MAPPING_KERNEL && !is_this_boot(unpacking))
			mapping.object = message->boot;
		unpacking->mappings[i] = builder_mapping(unpacking->builder, &mapping);
	}
}

static void add_functions(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;

	for (uint32_t i = 1; i < unpacking->function_count; i++) {
		const struct function function = {
			.name = ID(string, CELL(function, name, i)),
			.system_name = ID(string, CELL(function, system_name, i)),
			.filename = ID(string, CELL(function, filename, i)),
			.start_line = CELL(function, start_line, i),
		};

		unpacking->functions[i] = builder_function(unpacking->builder, &function);
	}
}

/* A location that was there already has its lines. */
static void add_lines(struct unpacking *unpacking, uint32_t location, uint32_t first,
                      uint32_t count)
{
	const Profd__Slice *message = unpacking->message;

	if (!count || builder_view(unpacking->builder)->locations[location].line_count)
		return;
	if (!first || first > unpacking->line_count || count > unpacking->line_count - first) {
		unpacking->is_bad = true;
		return;
	}
	for (uint32_t i = first; i < first + count; i++) {
		uint32_t function = ID(function, CELL(line, function, i));

		if (function)
			builder_line(unpacking->builder, location, function, CELL(line, number, i));
		else
			unpacking->is_bad = true;
	}
}

static void add_locations(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;

	for (uint32_t i = 1; i < unpacking->location_count; i++) {
		uint32_t location = builder_location(unpacking->builder,
		                                     ID(mapping, CELL(location, mapping, i)),
		                                     CELL(location, address, i));

		if (builder_error(unpacking->builder))
			return;
		add_lines(unpacking, location, CELL(location, first_line, i),
		          CELL(location, line_count, i));
		unpacking->locations[i] = location;
	}
}

static void add_nodes(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;

	for (uint32_t i = 1; i < unpacking->node_count; i++) {
		uint32_t location = ID(location, CELL(node, location, i));
		uint32_t parent = CELL(node, parent, i);

		if (!location || parent >= i) {
			unpacking->is_bad = true;
			return;
		}
		unpacking->nodes[i] =
			builder_node(unpacking->builder, unpacking->nodes[parent], location);
	}
}

static void add_tasks(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;

	for (uint32_t i = 1; i < unpacking->task_count; i++) {
		const struct task task = {
			.pid = CELL(task, pid, i),
			.tid = CELL(task, tid, i),
			.parent = CELL(task, parent, i),
			.account = CELL(task, account, i),
			.began_boot_ns = is_this_boot(unpacking) ? CELL(task, began_boot_ns, i) : 0,
#define LABEL(name) .name = ID(string, CELL(task, name, i)),
			TASK_LABELS(LABEL)
#undef LABEL
		};

		unpacking->tasks[i] = builder_task(unpacking->builder, &task);
	}
}

static void add_samples(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;
	size_t types = message->n_type_type;

	for (uint32_t i = 1; i < unpacking->sample_count; i++) {
		uint64_t values[PROFILE_VALUES] = {0};

		for (size_t j = 0; j < types; j++)
			values[j] = message->values[(i - 1) * types + j];
		builder_sample(unpacking->builder, ID(node, CELL(sample, node, i)),
		               ID(task, CELL(sample, task, i)), values);
	}
}

static const char *text_at(struct unpacking *unpacking, uint32_t string)
{
	const struct profile *view = builder_view(unpacking->builder);
	uint32_t id = ID(string, string);

	return builder_error(unpacking->builder) ? "" : profile_string(view, id);
}

static void add_types(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;

	for (size_t i = 0; i < message->n_type_type; i++)
		builder_value_type(unpacking->builder, text_at(unpacking, message->type_type[i]),
		                   text_at(unpacking, message->type_unit[i]));
	builder_period(unpacking->builder, text_at(unpacking, message->period_type),
	               text_at(unpacking, message->period_unit), message->period);
	if (message->n_type_type)
		builder_show(unpacking->builder, message->shown);
}

static void add_head(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;
	const struct ticks ticks = {
		.total = message->ticks_total,
		.idle = message->ticks_idle,
		.lost = message->ticks_lost,
		.missed = message->ticks_missed,
	};

	add_types(unpacking);
	builder_ticks(unpacking->builder, &ticks);
	builder_time(unpacking->builder, message->start_unix_ns - unpacking->host->wall_offset_ns,
	             message->start_unix_ns, message->duration_ns);
}

/* Sets the number of rows of each table. False if the columns of one differ in length. */
static bool count_rows(struct unpacking *unpacking)
{
	const Profd__Slice *message = unpacking->message;
	size_t types = message->n_type_type;

#define TABLE(table, column) unpacking->table##_count = (uint32_t)message->n_##table##_##column + 1;
	TABLES(TABLE)
#undef TABLE
#define COLUMN_32(table, member)                                            \
	if (message->n_##table##_##member &&                                \
	    message->n_##table##_##member != unpacking->table##_count - 1u) \
		return false;
#define COLUMN_64(table, member) COLUMN_32(table, member)
	COLUMNS
#undef COLUMN_32
#undef COLUMN_64
	return types <= PROFILE_VALUES && message->n_type_unit == types &&
	       message->shown < (types ?: 1) &&
	       message->n_values == (unpacking->sample_count - 1) * types;
}

static bool alloc_ids(struct unpacking *unpacking)
{
	bool has_all = true;

#define TABLE(table, column)                                                      \
	unpacking->table##s = calloc(unpacking->table##_count, sizeof(uint32_t)); \
	has_all &= unpacking->table##s != NULL;
	TABLES(TABLE)
#undef TABLE
	return has_all;
}

static void unpacking_release(struct unpacking *unpacking)
{
#define TABLE(table, column) free(unpacking->table##s);
	TABLES(TABLE)
#undef TABLE
	free(unpacking->strings);
}

static int add_all(struct unpacking *unpacking)
{
	if (!count_rows(unpacking))
		return -EBADMSG;
	if (!alloc_ids(unpacking))
		return -ENOMEM;
	if (!add_strings(unpacking))
		return unpacking->string_count ? -ENOMEM : -EBADMSG;
	add_head(unpacking);
	add_mappings(unpacking);
	add_functions(unpacking);
	add_locations(unpacking);
	add_nodes(unpacking);
	add_tasks(unpacking);
	add_samples(unpacking);
	return builder_error(unpacking->builder) ?: unpacking->is_bad ? -EBADMSG : 0;
}

static int unpack_message(const Profd__Slice *message, const struct packed_host *host,
                          struct profile **ret_profile)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(unpacking_release) struct unpacking unpacking = {
		.message = message,
		.host = host,
		.builder = builder,
	};
	int err;

	if (!builder)
		return -ENOMEM;
	err = add_all(&unpacking);
	return err ? err : builder_seal(builder, ret_profile);
}

int profile_unpack(const void *bytes, size_t len, const struct packed_host *host,
                   struct profile **ret_profile)
{
	_cleanup_(buf_release) struct buf plain = {.max = MAX_PACKED_BYTES + 1};
	Profd__Slice *message;
	int err = gzip_unpack(bytes, len, &plain);

	if (err)
		return err;
	message = profd__slice__unpack(NULL, plain.len, plain.data);
	if (!message)
		return -EBADMSG;
	err = unpack_message(message, host, ret_profile);
	profd__slice__free_unpacked(message, NULL);
	return err;
}
