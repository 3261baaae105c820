/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The objects of a set, and the tickets of those that are being opened.
 */
#include "proc/mapping_set_private.h"

#include <stdlib.h>

bool mapping_set_has_tickets(const struct mapping_set *set)
{
	for (size_t i = 0; i < set->slot_count; i++)
		if (set->slots[i].chunk->tickets)
			return true;
	return false;
}

static const struct opened *find_opened(const struct opened_batch *batch, uint32_t ticket)
{
	const struct opened wanted = {.ticket = ticket};

	return store_is_ticket(ticket) ? bsearch(&wanted, batch->opened, batch->count,
	                                         sizeof(wanted), opened_compare)
	                               : NULL;
}

static const struct opened *find_in_chunk(const struct mapping_chunk *chunk,
                                          const struct opened_batch *batch, size_t *item)
{
	for (; chunk->tickets && *item < chunk->count; ++*item) {
		const struct opened *found = find_opened(batch, chunk->items[*item].object);
		if (found)
			return found;
	}
	return NULL;
}

static bool chunk_has_any_of(struct mapping_chunk *chunk, const struct opened_batch *batch)
{
	size_t item = 0;

	if (chunk->asked_round != batch->round) {
		chunk->asked_round = batch->round;
		chunk->is_opened = find_in_chunk(chunk, batch, &item);
	}
	return chunk->is_opened;
}

bool mapping_set_has_any_of(struct mapping_set *set, const struct opened_batch *batch)
{
	if (set->asked_round == batch->round)
		return set->is_opened;
	set->asked_round = batch->round;
	set->is_opened = false;
	for (size_t i = 0; i < set->slot_count && !set->is_opened; i++)
		set->is_opened = chunk_has_any_of(set->slots[i].chunk, batch);
	return set->is_opened;
}

static void chunk_replace(struct mapping_chunk *chunk, const struct opened_batch *batch)
{
	const struct opened *found;
	size_t item = 0;

	if (!chunk_has_any_of(chunk, batch))
		return;
	while ((found = find_in_chunk(chunk, batch, &item))) {
		chunk->items[item].object = found->id;
		chunk->tickets--;
	}
	chunk->is_opened = false;
}

void mapping_set_replace(struct mapping_set *set, const struct opened_batch *batch)
{
	if (set->replaced_round == batch->round)
		return;
	set->replaced_round = batch->round;
	for (size_t i = 0; i < set->slot_count; i++)
		chunk_replace(set->slots[i].chunk, batch);
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
