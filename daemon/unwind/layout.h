/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct layout - the words of a table, written in ascending order of addresses: index, rules,
 * rows.
 */
#pragma once

#include "bpf/unwind_table.h"
#include "unwind/rules.h"

#include <stddef.h>

enum { LAYOUT_RECENT = 256 };

struct layout {
	uint32_t *words;
	size_t count, capacity, max;
	size_t rows;            /* index of the first row's word */
	uint32_t blocks, begun; /* number of blocks; number of blocks that have their first row */
	uint32_t op;            /* operation at the address that was reached */
	uint32_t recent[LAYOUT_RECENT];
};

/* Makes the index and writes the rules. -E2BIG, -ENOMEM. */
int layout_begin(struct layout *layout, uint64_t blocks, const struct rules *rules, size_t max);
/* The operation `op` applies from an offset into the text on; offsets ascend. -E2BIG, -ENOMEM. */
int layout_change(struct layout *layout, uint64_t offset, uint32_t op);
/* Completes the remaining blocks. */
int layout_end(struct layout *layout);
