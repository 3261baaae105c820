/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where functions begin, each once.
 */
#pragma once

#include "unwind/follow_code.h"
#include "unwind/follow_marks.h"

struct entry {
	uint64_t address, end; /* the end that a symbol gives it, else UINT64_MAX */
	enum follow_entry how;
	bool explored, followed;
};

struct entries {
	struct entry *items;
	size_t count, capacity;
	struct marks *known;
};

/* Does nothing when it is known. Too many are not an error: those that came first are kept.
 * -ENOMEM. */
int entries_add(struct entries *entries, const struct entry *entry);
void entries_sort(struct entries *entries);
/* The first one above an address, when they are sorted; UINT64_MAX when there is none. */
uint64_t entries_next(const struct entries *sorted, uint64_t address);
