/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A set of function entries.
 */
#pragma once

#include "follow/follow_code.h"
#include "follow/follow_marks.h"

struct entry {
	uint64_t address, end; /* end: from the symbol, else UINT64_MAX */
	enum follow_entry how;
	bool explored, followed;
};

struct entries {
	struct entry *items;
	size_t count, capacity;
	struct marks *known;
};

/* Does nothing when the entry is known. When there are too many, further entries are dropped
 * without an error. -ENOMEM. */
int entries_add(struct entries *entries, const struct entry *entry);
void entries_sort(struct entries *entries);
/* The address of the first entry above an address, in sorted entries; UINT64_MAX when there is
 * none. */
uint64_t entries_next(const struct entries *sorted, uint64_t address);
