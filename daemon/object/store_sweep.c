/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Closes objects that no process maps. Mapped objects are marked with the number of the sweep.
 */
#include "object/store_private.h"

#include "base/clock.h"

void store_sweep_begin(struct store *store)
{
	LOCKED(store);

	store->round++;
}

void store_is_mapped(struct store *store, uint32_t id)
{
	struct entry *entry;
	LOCKED(store);

	HASH_FIND(hh, store->by_id, &id, sizeof(id), entry);
	if (entry)
		entry->round = store->round;
}

void store_sweep_end(struct store *store, uint64_t rest_ns)
{
	uint64_t now_ns = clock_mono_ns();
	struct entry *entry, *next;
	LOCKED(store);

	for (entry = store->by_use; entry; entry = next) {
		next = entry->next;
		if (entry->round == store->round || entry->is_sampled ||
		    now_ns - entry->used_ns < rest_ns)
			continue;
		store_drop(store, entry);
		store->stats.unmapped++;
	}
}
