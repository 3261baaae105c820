/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An index from hashes to ids, and tables whose rows are stored once. Nothing is ever removed, so
 * probing needs no tombstones. Slots keep the whole hash, so growing does not read the rows, and
 * probing mostly does not either.
 */
#include "profile/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_SLOTS = 32, /* slices are made once a second and are mostly small */
	FIRST_ROWS = 16,
	MAX_ROWS = 1 << 30, /* so that twice a capacity still fits its type */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t index_hash(const void *bytes, size_t len, uint64_t seed)
{
	/* Odd constants with as many ones as zeros: 2^64 over the golden ratio, and pi's digits. */
	const uint64_t golden = 0x9e3779b97f4a7c15, pi = 0x243f6a8885a308d3;
	const char *at = bytes;
	uint64_t hash = mix(seed ^ golden, (uint64_t)len ^ pi);

	while (len) {
		uint64_t word = 0;
		size_t step = len < sizeof(word) ? len : sizeof(word);

		memcpy(&word, at, step);
		hash = mix(hash ^ word ^ pi, seed ^ golden);
		at += step;
		len -= step;
	}
	hash = mix(hash, golden);
	return (uint32_t)(hash ^ hash >> 32);
}

uint32_t index_next(const struct index *index, uint32_t hash, uint32_t *cursor)
{
	if (!index->size)
		return 0;
	for (;;) {
		const struct index_slot *slot = &index->slots[*cursor & (index->size - 1)];

		if (!slot->id)
			return 0;
		(*cursor)++;
		if (slot->hash == hash)
			return slot->id;
	}
}

static void place(struct index_slot *slots, uint32_t size, struct index_slot entry)
{
	uint32_t at = entry.hash;

	while (slots[at & (size - 1)].id)
		at++;
	slots[at & (size - 1)] = entry;
}

static int grow(struct index *index)
{
	uint32_t size = index->size ? index->size * 2 : FIRST_SLOTS;
	struct index_slot *slots = NULL;

	if (index->size < MAX_ROWS)
		slots = calloc(size, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < index->size; i++)
		if (index->slots[i].id)
			place(slots, size, index->slots[i]);
	free(index->slots);
	index->slots = slots;
	index->size = size;
	return 0;
}

int index_add(struct index *index, uint32_t hash, uint32_t id)
{
	/* At most two thirds full: there is always a free slot, which ends index_next(). */
	if ((uint64_t)(index->used + 1) * 3 > (uint64_t)index->size * 2) {
		int err = grow(index);

		if (err)
			return err;
	}
	place(index->slots, index->size, (struct index_slot){hash, id});
	index->used++;
	return 0;
}

void index_release(struct index *index)
{
	free(index->slots);
	*index = (struct index){0};
}

int table_init(struct table *table, size_t row_bytes, size_t key_bytes)
{
	*table = (struct table){.row_bytes = (uint32_t)row_bytes,
	                        .key_bytes = (uint32_t)key_bytes,
	                        .count = 1,
	                        .capacity = FIRST_ROWS};
	table->rows = calloc(FIRST_ROWS, row_bytes);
	return table->rows ? 0 : -ENOMEM;
}

void table_release(struct table *table)
{
	free(table->rows);
	index_release(&table->index);
	*table = (struct table){0};
}

int table_append(struct table *table, const void *row, uint32_t *ret_id)
{
	if (table->count == table->capacity) {
		uint32_t capacity = table->capacity * 2;
		void *rows = NULL;

		if (capacity <= MAX_ROWS)
			rows = reallocarray(table->rows, capacity, table->row_bytes);
		if (!rows)
			return -ENOMEM;
		table->rows = rows;
		table->capacity = capacity;
	}
	memcpy(table_row(table, table->count), row, table->row_bytes);
	*ret_id = table->count++;
	return 0;
}

int table_intern(struct table *table, const void *row, uint64_t seed, uint32_t *ret_id)
{
	uint32_t hash = index_hash(row, table->key_bytes, seed);
	uint32_t cursor = hash, id;
	int err;

	while ((id = index_next(&table->index, hash, &cursor))) {
		if (!memcmp(table_row(table, id), row, table->key_bytes)) {
			*ret_id = id;
			return 0;
		}
	}
	err = table_append(table, row, &id);
	if (!err)
		err = index_add(&table->index, hash, id);
	if (!err)
		*ret_id = id;
	return err;
}

int table_rekey(struct table *table, uint32_t id, uint64_t seed)
{
	return index_add(&table->index, index_hash(table_row(table, id), table->key_bytes, seed),
	                 id);
}
