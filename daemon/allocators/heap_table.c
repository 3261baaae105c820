/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A row for each stack and task, an entry for each address. The peak costs nothing as it moves: it
 * has a number. A row that is about to change first records what it held at the latest peak, if it
 * has not changed since that peak. A row that has not changed still holds the same.
 */
#include "allocators/heap_table.h"

#include "allocators/early.h"
#include "base/clock.h"

#include <stdbool.h>

enum {
	DEFAULT_LIVE = 65536,
	DEFAULT_STACKS = 32768,
	FIRST_LIVE = 512, /* room at the beginning; doubled when full */
	FIRST_STACKS = 128,
};

struct row {
	uint32_t path, task;
	uint32_t next; /* next row of the same bucket, by index + 1 */
	struct heap_weight allocated, in_use, at_peak, leaked;
	uint64_t live;
	uint64_t peak_number; /* number of the peak to which at_peak belongs */
};

struct entry {
	uint64_t address, time_ns;
	struct heap_weight weight;
	uint32_t row;
	uint32_t next; /* next entry of the same bucket, or next free one, by index + 1 */
};

struct heap_table {
	struct row *rows;
	struct entry *entries;
	uint32_t *row_buckets, *entry_buckets; /* by index + 1; 0: empty */
	size_t row_count, row_capacity, max_rows;
	size_t entry_count, entry_capacity, max_entries;
	unsigned int row_shift, entry_shift; /* from a hash to a bucket */
	uint32_t free_entries;
	uint64_t seed, peak_number;
	struct early early;
	struct heap_table_stats stats;
};

static unsigned int shift_for(size_t count)
{
	unsigned int bits = 4;

	while (bits < 31 && (size_t)1 << bits < count)
		bits++;
	return 64 - bits;
}

static size_t bucket_bytes(unsigned int shift)
{
	return sizeof(uint32_t) << (64 - shift);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static uint64_t hash(const struct heap_table *table, uint64_t key)
{
	uint64_t mixed = (key ^ table->seed) * 0x9e3779b97f4a7c15;

	return (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93;
}

static uint32_t *row_bucket(const struct heap_table *table, uint32_t path, uint32_t task)
{
	uint64_t pair = (uint64_t)path << 32 | task;

	return &table->row_buckets[hash(table, pair) >> table->row_shift];
}

static uint32_t *entry_bucket(const struct heap_table *table, uint64_t address)
{
	return &table->entry_buckets[hash(table, address) >> table->entry_shift];
}

/* Returns the array with more room, and buckets for it that are still empty; NULL: out of memory,
 * and nothing has changed. */
static void *grow(void *array, size_t item_bytes, size_t capacity, uint32_t **buckets,
                  unsigned int *shift)
{
	unsigned int new_shift = shift_for(capacity);
	uint32_t *new_buckets = calloc(1, bucket_bytes(new_shift));
	void *grown = new_buckets ? reallocarray(array, capacity, item_bytes) : NULL;

	if (!grown) {
		free(new_buckets);
		return NULL;
	}
	free(*buckets);
	*buckets = new_buckets;
	*shift = new_shift;
	return grown;
}

/* Makes room for up to `capacity` rows; false: there is no more. */
static bool grow_rows(struct heap_table *table, size_t capacity)
{
	struct row *rows;

	capacity = smaller(capacity, table->max_rows);
	if (capacity <= table->row_capacity)
		return false;
	rows = grow(table->rows, sizeof(*rows), capacity, &table->row_buckets, &table->row_shift);
	if (!rows)
		return false;
	table->rows = rows;
	table->row_capacity = capacity;
	for (uint32_t i = 0; i < table->row_count; i++) {
		uint32_t *bucket = row_bucket(table, rows[i].path, rows[i].task);

		rows[i].next = *bucket;
		*bucket = i + 1;
	}
	return true;
}

/* The same for entries, when no entry is free. */
static bool grow_entries(struct heap_table *table, size_t capacity)
{
	struct entry *entries;

	capacity = smaller(capacity, table->max_entries);
	if (capacity <= table->entry_capacity)
		return false;
	entries = grow(table->entries, sizeof(*entries), capacity, &table->entry_buckets,
	               &table->entry_shift);
	if (!entries)
		return false;
	table->entries = entries;
	table->entry_capacity = capacity;
	for (uint32_t i = 0; i < table->entry_count; i++) {
		uint32_t *bucket = entry_bucket(table, entries[i].address);

		entries[i].next = *bucket;
		*bucket = i + 1;
	}
	return true;
}

struct heap_table *heap_table_new(const struct heap_limits *limits)
{
	_cleanup_(heap_table_destroyp) struct heap_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->max_entries = limits && limits->live ? limits->live : DEFAULT_LIVE;
	table->max_rows = limits && limits->stacks ? limits->stacks : DEFAULT_STACKS;
	/* The program chooses the addresses, but must not be able to choose which of them
	 * collide. */
	table->seed = clock_mono_ns() * 0xd6e8feb86659fd93;
	if (!grow_entries(table, FIRST_LIVE) || !grow_rows(table, FIRST_STACKS))
		return NULL;
	return TAKE_PTR(table);
}

void heap_table_destroy(struct heap_table *table)
{
	if (!table)
		return;
	free(table->entries);
	free(table->rows);
	free(table->entry_buckets);
	free(table->row_buckets);
	free(table);
}

static void add(struct heap_weight *to, struct heap_weight weight)
{
	to->bytes += weight.bytes;
	to->objects += weight.objects;
}

/* Sets the sum to 0 when nothing is left, because of rounding errors. */
static void take_away(struct heap_weight *from, struct heap_weight weight, uint64_t left)
{
	from->bytes = left ? from->bytes - weight.bytes : 0;
	from->objects = left ? from->objects - weight.objects : 0;
}

/* The row of a stack and task, made if necessary; NULL: no room. */
static struct row *find_row(struct heap_table *table, uint32_t path, uint32_t task)
{
	uint32_t *bucket = row_bucket(table, path, task);

	for (uint32_t place = *bucket; place; place = table->rows[place - 1].next) {
		struct row *row = &table->rows[place - 1];
		if (row->path == path && row->task == task)
			return row;
	}
	if (table->row_count == table->row_capacity) {
		if (!grow_rows(table, 2 * table->row_capacity))
			return NULL;
		bucket = row_bucket(table, path, task);
	}
	struct row *row = &table->rows[table->row_count++];
	*row = (struct row){
		.path = path, .task = task, .next = *bucket, .peak_number = table->peak_number};
	*bucket = (uint32_t)table->row_count;
	return row;
}

static struct entry *find_entry(const struct heap_table *table, uint64_t address)
{
	for (uint32_t place = *entry_bucket(table, address); place;
	     place = table->entries[place - 1].next) {
		if (table->entries[place - 1].address == address)
			return &table->entries[place - 1];
	}
	return NULL;
}

static struct entry *new_entry(struct heap_table *table, uint64_t address)
{
	uint32_t place = table->free_entries;

	if (place)
		table->free_entries = table->entries[place - 1].next;
	else if (table->entry_count < table->entry_capacity ||
	         grow_entries(table, 2 * table->entry_capacity))
		place = (uint32_t)++table->entry_count;
	else
		return NULL;
	uint32_t *bucket = entry_bucket(table, address);
	struct entry *entry = &table->entries[place - 1];
	*entry = (struct entry){.address = address, .next = *bucket};
	*bucket = place;
	return entry;
}

static void drop_entry(struct heap_table *table, struct entry *entry)
{
	uint32_t place = (uint32_t)(entry - table->entries) + 1;
	uint32_t *link = entry_bucket(table, entry->address);

	while (*link != place)
		link = &table->entries[*link - 1].next;
	*link = entry->next;
	entry->next = table->free_entries;
	entry->address = 0;
	table->free_entries = place;
}

static void note_peak(const struct heap_table *table, struct row *row)
{
	if (row->peak_number == table->peak_number)
		return;
	row->at_peak = row->in_use;
	row->peak_number = table->peak_number;
}

static void hold(struct heap_table *table, struct entry *entry)
{
	struct row *row = &table->rows[entry->row];
	struct heap_table_stats *stats = &table->stats;

	note_peak(table, row);
	row->live++;
	stats->live++;
	add(&row->in_use, entry->weight);
	add(&stats->in_use, entry->weight);
	if (stats->in_use.bytes <= stats->peak.bytes)
		return;
	stats->peak = stats->in_use;
	stats->peak_ns = entry->time_ns;
	table->peak_number++;
}

static void release(struct heap_table *table, struct entry *entry)
{
	struct row *row = &table->rows[entry->row];

	note_peak(table, row);
	row->live--;
	table->stats.live--;
	take_away(&row->in_use, entry->weight, row->live);
	take_away(&table->stats.in_use, entry->weight, table->stats.live);
	drop_entry(table, entry);
}

void heap_table_alloc(struct heap_table *table, const struct heap_alloc *alloc)
{
	struct row *row = find_row(table, alloc->path, alloc->task);
	struct entry *before = find_entry(table, alloc->address);
	bool freed = early_take(&table->early, alloc->address, alloc->time_ns);

	if (!alloc->address)
		return;
	table->stats.allocated++;
	if (before && before->time_ns <= alloc->time_ns && !freed) {
		table->stats.replaced++;
		release(table, before);
		before = NULL;
	}
	if (!row) {
		table->stats.no_room_stacks++;
		return;
	}
	add(&row->allocated, alloc->weight);
	/* An allocation with a later one at its address was freed, even if that free was not
	 * reported. */
	if (freed || before)
		return;
	struct entry *entry = new_entry(table, alloc->address);
	if (!entry) {
		table->stats.no_room_live++;
		return;
	}
	entry->time_ns = alloc->time_ns;
	entry->weight = alloc->weight;
	entry->row = (uint32_t)(row - table->rows);
	hold(table, entry);
}

void heap_table_free(struct heap_table *table, uint64_t address, uint64_t time_ns)
{
	struct entry *entry = find_entry(table, address);

	table->stats.freed++;
	if (!entry)
		early_add(&table->early, address, time_ns);
	else if (entry->time_ns < time_ns)
		release(table, entry);
	/* Otherwise it freed an earlier allocation at this address. */
}

void heap_table_realloc(struct heap_table *table, uint64_t old, const struct heap_alloc *alloc,
                        uint64_t time_ns)
{
	if (old)
		heap_table_free(table, old, time_ns);
	if (alloc)
		heap_table_alloc(table, alloc);
}

/* Adds up by stack what was allocated in the window's first half. */
static void find_leaks(struct heap_table *table, const struct heap_window *window)
{
	uint64_t half_ns = window->end_ns - (window->end_ns - window->start_ns) / 2;

	for (size_t i = 0; i < table->row_count; i++)
		table->rows[i].leaked = (struct heap_weight){0};
	for (size_t i = 0; i < table->entry_count; i++) {
		const struct entry *entry = &table->entries[i];

		if (entry->address && entry->time_ns >= window->start_ns &&
		    entry->time_ns <= half_ns)
			add(&table->rows[entry->row].leaked, entry->weight);
	}
}

static struct heap_sums sums_of(const struct heap_table *table, const struct row *row,
                                enum heap_mode mode)
{
	struct heap_sums sums = {row->path, row->task, row->allocated, row->in_use};

	if (mode == HEAP_LEAKS)
		sums.allocated = sums.in_use = row->leaked;
	else if (mode == HEAP_PEAK && row->peak_number == table->peak_number)
		sums.in_use = row->at_peak;
	return sums;
}

int heap_table_read(struct heap_table *table, enum heap_mode mode, const struct heap_window *window,
                    heap_sums_fn *fn, void *ctx)
{
	if (mode == HEAP_LEAKS)
		find_leaks(table, window);
	for (size_t i = 0; i < table->row_count; i++) {
		struct heap_sums sums = sums_of(table, &table->rows[i], mode);

		if (!sums.allocated.bytes && !sums.in_use.bytes)
			continue;
		int result = fn(&sums, ctx);
		if (result)
			return result;
	}
	return 0;
}

void heap_table_get_stats(const struct heap_table *table, struct heap_table_stats *ret_stats)
{
	*ret_stats = table->stats;
	ret_stats->unmatched = table->early.given_up;
}

size_t heap_table_memory(const struct heap_table *table)
{
	return sizeof(*table) + table->entry_capacity * sizeof(*table->entries) +
	       table->row_capacity * sizeof(*table->rows) + bucket_bytes(table->entry_shift) +
	       bucket_bytes(table->row_shift);
}
