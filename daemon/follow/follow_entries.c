/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A growing array, and the set of addresses in it.
 */
#include "follow/follow_entries.h"

#include <errno.h>

enum { MAX_ENTRIES = 1000 * 1000 };

int entries_add(struct entries *entries, const struct entry *entry)
{
	if (entries->count >= MAX_ENTRIES || marks_test(entries->known, entry->address))
		return 0;
	int err = marks_set(entries->known, entry->address);
	if (err)
		return err == -E2BIG ? 0 : err;
	if (entries->count == entries->capacity) {
		size_t capacity = entries->capacity ? entries->capacity * 2 : 256;
		struct entry *items = reallocarray(entries->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		entries->items = items;
		entries->capacity = capacity;
	}
	entries->items[entries->count++] = *entry;
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

void entries_sort(struct entries *entries)
{
	if (entries->count)
		qsort(entries->items, entries->count, sizeof(*entries->items), by_address);
}

uint64_t entries_next(const struct entries *sorted, uint64_t address)
{
	size_t low = 0, high = sorted->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted->items[middle].address > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low < sorted->count ? sorted->items[low].address : UINT64_MAX;
}
