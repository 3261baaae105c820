/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct index and struct table - what interning is made of. An index finds ids by the hash of what
 * they stand for: open addressing over (hash, id) pairs, 8 bytes each, because a profile has a
 * hundred thousand nodes of 8 bytes and must not pay five times that to find them. A table is rows
 * of one size, row 0 being "none", with an index over the first `key_bytes` of each. Private to
 * profile/. Not thread-safe; any thread may own one.
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

/* The seed keeps those who choose symbol names from choosing collisions. */
uint32_t index_hash(const void *bytes, size_t len, uint64_t seed);
/* Goes through the ids of a hash: start with *cursor == hash; 0 when there are no more. */
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
/* The id of the row with the same key, which is appended when there is none. Keys hold no padding.
 */
int table_intern(struct table *table, const void *row, uint64_t seed, uint32_t *ret_id);
/* The key of row `id` was changed: it is found by the new one from now on. */
int table_rekey(struct table *table, uint32_t id, uint64_t seed);

static inline void *table_row(const struct table *table, uint32_t id)
{
	return (char *)table->rows + (size_t)id * table->row_bytes;
}
