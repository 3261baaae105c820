/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct index and struct table - the basis of interning. An index finds ids by hash. It uses open
 * addressing over (hash, id) pairs of 8 bytes, because a profile has a hundred thousand nodes of 8
 * bytes, and finding them must not cost five times that. A table has rows of one size and an index
 * over the first `key_bytes` of each; row 0 is "none". Private to profile/. Not thread-safe; any
 * thread may own one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct index_slot {
	uint32_t hash, id; /* id 0: free */
};

struct index {
	struct index_slot *slots;
	uint32_t size, used; /* size is a power of two, or 0 */
};

/* Because of the seed, those who choose symbol names cannot choose collisions. */
uint32_t index_hash(const void *bytes, size_t len, uint64_t seed);
/* Iterates over the ids of a hash: start with *cursor == hash; 0 when there are no more. */
uint32_t index_next(const struct index *index, uint32_t hash, uint32_t *cursor);
int index_add(struct index *index, uint32_t hash, uint32_t id);
void index_release(struct index *index);

struct table {
	void *rows;
	uint32_t count, capacity;
	uint32_t row_bytes, key_bytes;
	struct index index;
};

int table_init(struct table *table, size_t row_bytes, size_t key_bytes);
void table_release(struct table *table);
int table_append(struct table *table, const void *row, uint32_t *ret_id);
/* The id of the row with the same key. Appends the row if there is none. Keys hold no padding. */
int table_intern(struct table *table, const void *row, uint64_t seed, uint32_t *ret_id);
/* Call after the key of row `id` was changed: the row is then found by its new key. */
int table_rekey(struct table *table, uint32_t id, uint64_t seed);

static inline void *table_row(const struct table *table, uint32_t id)
{
	return (char *)table->rows + (size_t)id * table->row_bytes;
}
