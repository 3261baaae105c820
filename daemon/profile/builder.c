/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Interns rows into growing tables, and seals the tables into one block of memory. The key of a row
 * is the beginning of its struct. So struct location and struct sample end with the members that
 * are not part of the key.
 */
#include "profile/builder.h"
#include "base/hash.h"
#include "profile/index.h"
#include "profile/sum.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* Name of the table without its s, type of its rows, bytes of the key; 0: rows are not interned. */
#define TABLES(TABLE)                                                           \
	TABLE(mapping, struct mapping, sizeof(struct mapping))                  \
	TABLE(location, struct location, offsetof(struct location, first_line)) \
	TABLE(line, struct line, 0)                                             \
	TABLE(function, struct function, sizeof(struct function))               \
	TABLE(node, struct node, sizeof(struct node))                           \
	TABLE(task, struct task, sizeof(struct task))                           \
	TABLE(sample, struct sample, offsetof(struct sample, values))           \
	TABLE(comment, uint32_t, sizeof(uint32_t))

_Static_assert(sizeof(struct mapping) == 40, "a key holds no padding");
_Static_assert(offsetof(struct location, first_line) == 12, "a key holds no padding");
_Static_assert(sizeof(struct task) == 104, "a key holds no padding");

struct builder {
	int error;
	uint64_t seed;
	struct profile *view; /* what is not in a table is in here */
#define TABLE(name, type, key) struct table name##s;
	TABLES(TABLE)
#undef TABLE
	struct table string_starts; /* its index is keyed by the strings themselves */
	char *string_bytes;
	size_t string_len, string_capacity;
};

static int builder_init(struct builder *builder)
{
	int err = 0;

	builder->seed = hash_seed();
#define TABLE(name, type, key) err = err ?: table_init(&builder->name##s, sizeof(type), key);
	TABLES(TABLE)
#undef TABLE
	err = err ?: table_init(&builder->string_starts, sizeof(uint32_t), 0);
	builder->view = calloc(1, sizeof(*builder->view));
	builder->string_capacity = 256;
	builder->string_len = 1; /* the NUL of string 0 */
	builder->string_bytes = calloc(1, builder->string_capacity);
	return builder->view && builder->string_bytes ? err : -ENOMEM;
}

static void builder_release(struct builder *builder)
{
#define TABLE(name, type, key) table_release(&builder->name##s);
	TABLES(TABLE)
#undef TABLE
	table_release(&builder->string_starts);
	free(builder->string_bytes);
	free(builder->view);
	*builder = (struct builder){0};
}

struct builder *builder_new(void)
{
	_cleanup_(builder_freep) struct builder *builder = calloc(1, sizeof(*builder));

	if (!builder || builder_init(builder))
		return NULL;
	return TAKE_PTR(builder);
}

void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	builder_release(builder);
	free(builder);
}

int builder_error(const struct builder *builder)
{
	return builder->error;
}

static int append_string(struct builder *builder, const char *bytes, size_t len, uint32_t *ret_id)
{
	size_t need = builder->string_len + len + 1;
	uint32_t start = (uint32_t)builder->string_len;

	if (need > UINT32_MAX)
		return -ENOMEM;
	if (need > builder->string_capacity) {
		size_t capacity = need * 2;
		char *grown = realloc(builder->string_bytes, capacity);

		if (!grown)
			return -ENOMEM;
		builder->string_bytes = grown;
		builder->string_capacity = capacity;
	}
	memcpy(builder->string_bytes + start, bytes, len);
	builder->string_bytes[start + len] = '\0';
	builder->string_len = need;
	return table_append(&builder->string_starts, &start, ret_id);
}

/* 0 if it was not interned yet. */
static uint32_t find_string(const struct builder *builder, const char *bytes, size_t len,
                            uint32_t hash)
{
	uint32_t cursor = hash, id;

	while ((id = index_next(&builder->string_starts.index, hash, &cursor))) {
		uint32_t start = *(uint32_t *)table_row(&builder->string_starts, id);
		const char *known = builder->string_bytes + start;

		if (!strncmp(known, bytes, len) && !known[len])
			return id;
	}
	return 0;
}

uint32_t builder_string(struct builder *builder, const char *bytes, size_t len)
{
	uint32_t hash, id;

	if (builder->error || !len)
		return 0;
	len = strnlen(bytes, len);
	if (!len)
		return 0;
	hash = index_hash(bytes, len, builder->seed);
	id = find_string(builder, bytes, len, hash);
	if (id)
		return id;
	builder->error = append_string(builder, bytes, len, &id);
	if (!builder->error)
		builder->error = index_add(&builder->string_starts.index, hash, id);
	return builder->error ? 0 : id;
}

uint32_t builder_text(struct builder *builder, const char *string)
{
	return builder_string(builder, string, strlen(string));
}

bool builder_has_text(const struct builder *builder, const char *string)
{
	size_t len = strlen(string);

	return find_string(builder, string, len, index_hash(string, len, builder->seed)) != 0;
}

static uint32_t intern(struct builder *builder, struct table *table, const void *row)
{
	uint32_t id = 0;

	if (!builder->error)
		builder->error = table_intern(table, row, builder->seed, &id);
	return id;
}

uint32_t builder_mapping(struct builder *builder, const struct mapping *mapping)
{
	return intern(builder, &builder->mappings, mapping);
}

uint32_t builder_location(struct builder *builder, uint32_t mapping, uint64_t address)
{
	struct location location = {.mapping = mapping, .address = address};

	assert(builder->error || mapping < builder->mappings.count);
	return intern(builder, &builder->locations, &location);
}

uint32_t builder_pseudo(struct builder *builder, const char *name)
{
	const struct mapping mapping = {
		.path = builder_text(builder, name),
		.kind = MAPPING_PSEUDO,
	};

	return builder_location(builder, builder_mapping(builder, &mapping), 0);
}

uint32_t builder_node(struct builder *builder, uint32_t parent, uint32_t location)
{
	struct node node = {.parent = parent, .location = location};

	assert(builder->error || parent < builder->nodes.count);
	assert(builder->error || (location && location < builder->locations.count));
	return intern(builder, &builder->nodes, &node);
}

uint32_t builder_task(struct builder *builder, const struct task *task)
{
	return intern(builder, &builder->tasks, task);
}

uint32_t builder_function(struct builder *builder, const struct function *function)
{
	return intern(builder, &builder->functions, function);
}

void builder_line(struct builder *builder, uint32_t location, uint32_t function, uint32_t number)
{
	struct line line = {.function = function, .number = number};
	struct location *row;
	uint32_t id;

	if (builder->error)
		return;
	assert(location && location < builder->locations.count);
	assert(function && function < builder->functions.count);
	builder->error = table_append(&builder->lines, &line, &id);
	if (builder->error)
		return;
	row = table_row(&builder->locations, location);
	if (!row->line_count)
		row->first_line = id;
	assert(row->first_line + row->line_count == id);
	row->line_count++;
}

void builder_rename(struct builder *builder, uint32_t location, uint32_t function)
{
	const struct location *row;
	struct line *line;

	if (builder->error)
		return;
	assert(location && location < builder->locations.count);
	assert(function && function < builder->functions.count);
	row = table_row(&builder->locations, location);
	assert(row->line_count == 1);
	line = table_row(&builder->lines, row->first_line);
	line->function = function;
}

void builder_change_task(struct builder *builder, uint32_t id, const struct task *task)
{
	if (builder->error)
		return;
	assert(id && id < builder->tasks.count);
	*(struct task *)table_row(&builder->tasks, id) = *task;
	builder->error = table_rekey(&builder->tasks, id, builder->seed);
}

void builder_move(struct builder *builder, uint32_t location, uint32_t mapping, uint64_t address)
{
	struct location *row;

	if (builder->error)
		return;
	assert(location && location < builder->locations.count);
	assert(mapping < builder->mappings.count);
	row = table_row(&builder->locations, location);
	if (row->mapping == mapping && row->address == address)
		return;
	row->mapping = mapping;
	row->address = address;
	builder->error = table_rekey(&builder->locations, location, builder->seed);
}

void builder_sample(struct builder *builder, uint32_t node, uint32_t task,
                    const uint64_t values[PROFILE_VALUES])
{
	struct sample sample = {.node = node, .task = task};
	uint32_t id = intern(builder, &builder->samples, &sample);
	struct sample *row;

	if (builder->error)
		return;
	assert(node < builder->nodes.count && task < builder->tasks.count);
	row = table_row(&builder->samples, id);
	for (size_t i = 0; i < PROFILE_VALUES; i++)
		sum_add(&row->values[i], values[i]);
}

void builder_move_sample(struct builder *builder, uint32_t sample, uint32_t node, uint32_t task)
{
	struct sample *row;

	if (builder->error)
		return;
	assert(sample && sample < builder->samples.count);
	assert(node < builder->nodes.count && task < builder->tasks.count);
	row = table_row(&builder->samples, sample);
	row->node = node;
	row->task = task;
	builder->error = table_rekey(&builder->samples, sample, builder->seed);
}

void builder_drop_samples(struct builder *builder, const bool *drops)
{
	struct table *samples = &builder->samples;
	uint32_t count = 1;

	for (uint32_t id = 1; id < samples->count; id++)
		if (!drops[id])
			memmove(table_row(samples, count++), table_row(samples, id),
			        samples->row_bytes);
	samples->count = samples->count ? count : 0;
}

void builder_comment(struct builder *builder, const char *comment)
{
	uint32_t string = builder_text(builder, comment);

	if (string)
		intern(builder, &builder->comments, &string);
}

void builder_value_type(struct builder *builder, const char *type, const char *unit)
{
	struct profile *view = builder->view;

	assert(view->type_count < PROFILE_VALUES);
	view->shown = view->type_count;
	view->types[view->type_count++] = (struct value_type){.type = builder_text(builder, type),
	                                                      .unit = builder_text(builder, unit)};
}

void builder_show(struct builder *builder, uint32_t type)
{
	assert(type < builder->view->type_count);
	builder->view->shown = type;
}

void builder_period(struct builder *builder, const char *type, const char *unit, uint64_t period)
{
	builder->view->period_type.type = builder_text(builder, type);
	builder->view->period_type.unit = builder_text(builder, unit);
	builder->view->period = period;
}

void builder_time(struct builder *builder, uint64_t start_mono_ns, uint64_t start_wall_ns,
                  uint64_t duration_ns)
{
	builder->view->start_mono_ns = start_mono_ns;
	builder->view->start_wall_ns = start_wall_ns;
	builder->view->duration_ns = duration_ns;
}

void builder_ticks(struct builder *builder, const struct ticks *ticks)
{
	sum_add(&builder->view->ticks.total, ticks->total);
	sum_add(&builder->view->ticks.idle, ticks->idle);
	sum_add(&builder->view->ticks.lost, ticks->lost);
	sum_add(&builder->view->ticks.missed, ticks->missed);
}

const struct profile *builder_view(const struct builder *builder)
{
	struct profile *view = builder->view;

#define TABLE(name, type, key)                 \
	view->name##s = builder->name##s.rows; \
	view->name##_count = builder->name##s.count;
	TABLES(TABLE)
#undef TABLE
	view->string_bytes = builder->string_bytes;
	view->string_start = builder->string_starts.rows;
	view->string_count = builder->string_starts.count;
	return view;
}

static size_t table_memory(const struct table *table)
{
	return (size_t)table->capacity * table->row_bytes +
	       (size_t)table->index.size * sizeof(*table->index.slots);
}

size_t builder_memory(const struct builder *builder)
{
	size_t bytes = sizeof(*builder) + sizeof(*builder->view) + builder->string_capacity +
	               table_memory(&builder->string_starts);

#define TABLE(name, type, key) bytes += table_memory(&builder->name##s);
	TABLES(TABLE)
#undef TABLE
	return bytes;
}

/* Rounds up to eight bytes: every table begins at a multiple of that. */
static size_t aligned(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

size_t builder_sealed(const struct builder *builder)
{
	size_t bytes = aligned(sizeof(*builder->view)) + aligned(builder->string_len) +
	               aligned(builder->string_starts.count * sizeof(uint32_t));

#define TABLE(name, type, key) bytes += aligned(builder->name##s.count * sizeof(type));
	TABLES(TABLE)
#undef TABLE
	return bytes;
}

static const void *place(char **at, const void *rows, size_t bytes)
{
	void *placed = *at;

	memcpy(placed, rows, bytes);
	*at += aligned(bytes);
	return placed;
}

int builder_seal(struct builder *builder, struct profile **ret_profile)
{
	const struct profile *view = builder_view(builder);
	size_t bytes = builder_sealed(builder);
	struct profile *profile;
	char *at;

	if (builder->error)
		return builder->error;
	profile = malloc(bytes);
	if (!profile)
		return -ENOMEM;
	*profile = *view;
	profile->memory_bytes = bytes;
	profile->references = 1;
	at = (char *)profile + aligned(sizeof(*profile));
#define TABLE(name, type, key) \
	profile->name##s = place(&at, view->name##s, view->name##_count * sizeof(type));
	TABLES(TABLE)
#undef TABLE
	profile->string_start =
		place(&at, view->string_start, view->string_count * sizeof(uint32_t));
	profile->string_bytes = place(&at, view->string_bytes, builder->string_len);
	builder_release(builder);
	*ret_profile = profile;
	return 0;
}
