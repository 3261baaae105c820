/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tickets of files that were sampled. The objects that such tickets become are held open.
 */
#include "object/store_private.h"

#include "base/clock.h"

void store_begin_ticket(struct store *store, uint32_t ticket, uint32_t user)
{
	LOCKED(store);

	tickets_begin(&store->tickets, ticket, user);
}

void store_want_ticket(struct store *store, uint32_t ticket)
{
	uint64_t now_ns = clock_mono_ns();
	LOCKED(store);

	tickets_want(&store->tickets, ticket, now_ns);
}

void store_redeem_ticket(struct store *store, uint32_t ticket, uint32_t id)
{
	struct entry *entry;
	LOCKED(store);

	if (!tickets_redeem(&store->tickets, ticket, id))
		return;
	HASH_FIND(hh, store->by_id, &id, sizeof(id), entry);
	if (entry)
		entry->is_sampled = true;
}

int store_find_ticket(struct store *store, uint32_t ticket, uint32_t *ret_id)
{
	uint64_t now_ns = clock_mono_ns();
	LOCKED(store);

	return tickets_find(&store->tickets, ticket, now_ns, ret_id);
}
