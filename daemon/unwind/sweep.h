/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct sweep - rows in the order they were added, gone over by address: where several lie over
 * each other the one that was added first holds. Sorted in place, so that rows cost 16 bytes each;
 * rows that came by ascending address, as those of call frame information do, are not sorted again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PACKED_START_BITS = 40 };

/* A row while its table is made. */
struct packed_row {
	uint64_t
		start_op; /* start:40 | op:24; the start is relative to whatever the caller likes */
	uint32_t len;
	uint32_t order; /* in which it was added */
};

static inline uint64_t packed_start(const struct packed_row *row)
{
	return row->start_op >> (64 - PACKED_START_BITS);
}

static inline uint64_t packed_end(const struct packed_row *row)
{
	return packed_start(row) + row->len;
}

/* Calls fn for each piece of addresses with one row, by ascending address. rows[0..ascending) are
 * sorted by start already; the others get sorted. -ENOMEM, or what fn returned other than 0. */
typedef int piece_fn(uint64_t start, uint64_t end, uint32_t op, void *ctx);
int sweep_rows(struct packed_row *rows, size_t count, size_t ascending, piece_fn *fn, void *ctx);
