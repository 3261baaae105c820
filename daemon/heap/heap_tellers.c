/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table is keyed by pid. The least that an entry takes is charged before it is made, so that a
 * process of a user without room costs one look-up and no more.
 */
#include "heap/heap_tellers.h"

#include "base/table.h"
#include "proc/owner.h"

#include <stdlib.h>
#include <string.h>

enum { TELLER_BYTES = 64 << 10 }; /* a new entry takes 48 KiB */

struct teller_entry {
	struct teller teller;
	UT_hash_handle hh;
};

void heap_tellers_init(struct heap_tellers *tellers, const struct drain_tables *tables,
                       struct heaps_stats *stats)
{
	*tellers = (struct heap_tellers){
		.tables = *tables,
		.stats = stats,
		.process_shares = {.whole = MAX_STANDING_PROCESSES},
		.byte_shares = {.whole = MAX_STANDING_BYTES_ALL},
	};
}

static void give_share(struct heap_tellers *tellers, const struct teller *teller)
{
	shares_give(&tellers->process_shares, teller->owner, 1);
	shares_give(&tellers->byte_shares, teller->owner, teller->bytes);
}

static void forget(struct heap_tellers *tellers, struct teller *teller)
{
	struct teller_entry *entry = (struct teller_entry *)teller;

	HASH_DEL(tellers->by_pid, entry);
	give_share(tellers, teller);
	heap_feed_free(teller->feed);
	free(entry);
}

void heap_tellers_release(struct heap_tellers *tellers)
{
	struct teller_entry *entry, *next;

	HASH_ITER (hh, tellers->by_pid, entry, next)
		forget(tellers, &entry->teller);
	shares_clear(&tellers->process_shares);
	shares_clear(&tellers->byte_shares);
}

struct teller *heap_tellers_find(const struct heap_tellers *tellers, uint32_t pid)
{
	struct teller_entry *entry;

	HASH_FIND(hh, tellers->by_pid, &pid, sizeof(pid), entry);
	return entry ? &entry->teller : NULL;
}

static bool take_share(struct heap_tellers *tellers, uint32_t owner)
{
	if (!shares_take(&tellers->process_shares, owner, 1))
		return false;
	if (shares_take(&tellers->byte_shares, owner, TELLER_BYTES))
		return true;
	shares_give(&tellers->process_shares, owner, 1);
	return false;
}

/* Finding the owner reads a file of /proc, so a process that was refused is refused without a check
 * until the next expiry. */
static bool may_tell(struct heap_tellers *tellers, uint32_t pid, uint32_t *ret_owner)
{
	uint32_t *refused = &tellers->refused[pid % STANDING_REFUSED];

	if (*refused == pid)
		return false;
	*ret_owner = owner_read(pid);
	if (take_share(tellers, *ret_owner))
		return true;
	*refused = pid;
	return false;
}

static struct teller *add(struct heap_tellers *tellers, const struct teller *what)
{
	struct teller_entry *entry = calloc(1, sizeof(*entry));

	if (entry) {
		entry->teller = *what;
		entry->teller.feed = heap_feed_new(&tellers->tables, what->pid);
		if (entry->teller.feed)
			HASH_ADD(hh, tellers->by_pid, teller.pid, sizeof(what->pid), entry);
		if (entry->hh.tbl)
			return &entry->teller;
		heap_feed_free(entry->teller.feed);
		free(entry);
	}
	give_share(tellers, what);
	return NULL;
}

struct teller *heap_tellers_get(struct heap_tellers *tellers, uint32_t pid,
                                const struct image *image, uint64_t mono_ns)
{
	struct teller *teller = heap_tellers_find(tellers, pid);
	uint32_t owner;

	if (teller && teller->image_ns == image->start_mono_ns)
		return teller;
	if (teller)
		forget(tellers, teller);
	if (!may_tell(tellers, pid, &owner))
		return NULL;
	return add(tellers, &(struct teller){
				    .pid = pid,
				    .owner = owner,
				    .image_ns = image->start_mono_ns,
				    .start_mono_ns = mono_ns,
				    .bytes = TELLER_BYTES,
			    });
}

void heap_tellers_charge(struct heap_tellers *tellers, struct teller *teller)
{
	size_t bytes = sizeof(struct teller_entry) + heap_feed_memory(teller->feed);
	struct heap_table_stats table;

	if (bytes <= teller->bytes)
		return;
	if (bytes <= MAX_STANDING_BYTES &&
	    shares_take(&tellers->byte_shares, teller->owner, bytes - teller->bytes)) {
		teller->bytes = bytes;
		return;
	}
	heap_feed_get_stats(teller->feed, &table);
	tellers->stats->heap_begun_anew++;
	tellers->stats->heap_forgotten += table.allocated;
	forget(tellers, teller);
}

void heap_tellers_expire(struct heap_tellers *tellers)
{
	struct teller_entry *entry, *next;

	memset(tellers->refused, 0, sizeof(tellers->refused));
	HASH_ITER (hh, tellers->by_pid, entry, next) {
		if (!procs_mappings(tellers->tables.procs, entry->teller.pid))
			forget(tellers, &entry->teller);
	}
}

uint32_t heap_tellers_count(const struct heap_tellers *tellers)
{
	return HASH_COUNT(tellers->by_pid);
}
