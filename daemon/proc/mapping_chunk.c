/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct mapping_chunk: a reference-counted array.
 */
#include "proc/mapping_set_private.h"

#include "object/opener.h"
#include "proc/paths.h"

#include <string.h>

enum { FEW_MAPPINGS = 8 };

static size_t bytes_of(size_t capacity)
{
	return sizeof(struct mapping_chunk) + capacity * sizeof(struct proc_mapping);
}

size_t mapping_chunk_bytes(const struct mapping_chunk *chunk)
{
	return bytes_of(chunk->capacity);
}

struct mapping_chunk *mapping_chunk_new(size_t capacity, struct mapping_room *room, uint32_t user)
{
	struct mapping_chunk *chunk;

	if (!mapping_room_take(room, user, bytes_of(capacity)))
		return NULL;
	chunk = malloc(bytes_of(capacity));
	if (!chunk) {
		mapping_room_give(room, user, bytes_of(capacity));
		return NULL;
	}
	*chunk = (struct mapping_chunk){
		.references = 1, .user = user, .room = room, .capacity = (uint16_t)capacity};
	return chunk;
}

struct mapping_chunk *mapping_chunk_copy(const struct mapping_chunk *chunk,
                                         struct mapping_room *room, uint32_t user)
{
	size_t capacity = FEW_MAPPINGS;
	struct mapping_chunk *copy;

	while (capacity < chunk->count + 1U && capacity < CHUNK_MAPPINGS)
		capacity *= 2;
	copy = mapping_chunk_new(capacity, room, user);
	if (!copy)
		return NULL;
	memcpy(copy->items, chunk->items, chunk->count * sizeof(chunk->items[0]));
	copy->count = chunk->count;
	copy->tickets = chunk->tickets;
	for (size_t i = 0; i < copy->count; i++)
		paths_ref_again(copy->items[i].path);
	return copy;
}

struct mapping_chunk *mapping_chunk_ref(struct mapping_chunk *chunk)
{
	chunk->references++;
	return chunk;
}

void mapping_chunk_unref(struct mapping_chunk *chunk)
{
	if (--chunk->references)
		return;
	for (size_t i = 0; i < chunk->count; i++)
		paths_unref(chunk->items[i].path);
	mapping_room_give(chunk->room, chunk->user, mapping_chunk_bytes(chunk));
	free(chunk);
}

void mapping_chunk_insert(struct mapping_chunk *chunk, size_t at,
                          const struct proc_mapping *mapping)
{
	memmove(&chunk->items[at + 1], &chunk->items[at],
	        (chunk->count - at) * sizeof(chunk->items[0]));
	chunk->items[at] = *mapping;
	chunk->count++;
	chunk->tickets += store_is_ticket(mapping->object);
}

void mapping_chunk_remove(struct mapping_chunk *chunk, size_t at)
{
	chunk->tickets -= store_is_ticket(chunk->items[at].object);
	paths_unref(chunk->items[at].path);
	chunk->count--;
	memmove(&chunk->items[at], &chunk->items[at + 1],
	        (chunk->count - at) * sizeof(chunk->items[0]));
}

void mapping_chunk_split(struct mapping_chunk *chunk, size_t at, struct mapping_chunk *to)
{
	for (size_t i = at; i < chunk->count; i++) {
		bool ticket = store_is_ticket(chunk->items[i].object);

		to->items[to->count++] = chunk->items[i];
		to->tickets += ticket;
		chunk->tickets -= ticket;
	}
	chunk->count = (uint16_t)at;
}
