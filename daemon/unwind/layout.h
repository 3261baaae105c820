/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct layout - the words of a table, written in the order of addresses: index, rules, rows.
 */
#pragma once

#include "bpf/unwind_table.h"
#include "unwind/rules.h"

#include <stddef.h>

enum { LAYOUT_RECENT = 256 };

struct layout {
	uint32_t *words;
	size_t count, capacity, max;
	size_t rows;            /* where they begin */
	uint32_t blocks, begun; /* in all; those that have their first row */
	uint32_t op;            /* of the address reached */
	uint32_t recent[LAYOUT_RECENT];
};

/* Room for the index, and the rules. -E2BIG, -ENOMEM. */
int layout_begin(struct layout *layout, uint64_t blocks, const struct rules *rules, size_t max);
/* From an offset into the text on, op holds; offsets ascend. -E2BIG, -ENOMEM. */
int layout_change(struct layout *layout, uint64_t offset, uint32_t op);
/* The rest of the blocks. */
int layout_end(struct layout *layout);
