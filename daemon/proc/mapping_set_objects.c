/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The objects of a set: those that are being opened, and all of them.
 */
#include "proc/mapping_set_private.h"

bool mapping_set_has_tickets(const struct mapping_set *set)
{
	for (size_t i = 0; i < set->slot_count; i++)
		if (set->slots[i].chunk->tickets)
			return true;
	return false;
}

static const struct opened *find_opened(const struct opened *opened, size_t count, uint32_t ticket)
{
	for (size_t i = 0; store_is_ticket(ticket) && i < count; i++)
		if (opened[i].ticket == ticket)
			return &opened[i];
	return NULL;
}

static const struct opened *find_in_chunk(const struct mapping_chunk *chunk,
                                          const struct opened *opened, size_t count, size_t *item)
{
	for (; chunk->tickets && *item < chunk->count; ++*item) {
		const struct opened *found = find_opened(opened, count, chunk->items[*item].object);
		if (found)
			return found;
	}
	return NULL;
}

bool mapping_set_has_any_of(const struct mapping_set *set, const struct opened *opened,
                            size_t count)
{
	for (size_t i = 0; i < set->slot_count; i++) {
		size_t item = 0;

		if (find_in_chunk(set->slots[i].chunk, opened, count, &item))
			return true;
	}
	return false;
}

void mapping_set_replace(struct mapping_set *set, const struct opened *opened, size_t count)
{
	for (size_t i = 0; i < set->slot_count; i++) {
		struct mapping_chunk *chunk = set->slots[i].chunk;
		const struct opened *found;
		size_t item = 0;

		while ((found = find_in_chunk(chunk, opened, count, &item))) {
			chunk->items[item].object = found->id;
			chunk->tickets--;
		}
	}
	set->serial = mapping_set_next_serial();
}

static void each_of_chunk(const struct mapping_chunk *chunk, mapping_object_fn *fn, void *ctx)
{
	uint32_t last = 0;

	for (size_t i = 0; i < chunk->count; i++) {
		uint32_t object = chunk->items[i].object;

		if (object && object != last && !store_is_ticket(object))
			fn(object, ctx);
		last = object;
	}
}

void mapping_set_each_object(struct mapping_set *set, uint32_t round, mapping_object_fn *fn,
                             void *ctx)
{
	if (set->round == round)
		return;
	set->round = round;
	for (size_t i = 0; i < set->slot_count; i++)
		each_of_chunk(set->slots[i].chunk, fn, ctx);
}
