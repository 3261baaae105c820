/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct sweep - goes over rows by address: where rows overlap, the one that was added first
 * applies. Rows are sorted in place, so that each takes 16 bytes. Rows that came in ascending order
 * of addresses, as those of call frame information do, are not sorted again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PACKED_START_BITS = 40 };

/* A row while its table is built. */
struct packed_row {
	uint64_t start_op; /* start:40 | op:24; the caller chooses the start's base */
	uint32_t len;
	uint32_t order; /* position in the order of adding */
};

static inline uint64_t packed_start(const struct packed_row *row)
{
	return row->start_op >> (64 - PACKED_START_BITS);
}

static inline uint64_t packed_end(const struct packed_row *row)
{
	return packed_start(row) + row->len;
}

/* Calls fn for each range of addresses with one row, in ascending order. rows[0..ascending) are
 * already sorted by start; the others are sorted here. -ENOMEM, or what fn returned other than
 * 0. */
typedef int piece_fn(uint64_t start, uint64_t end, uint32_t op, void *ctx);
int sweep_rows(struct packed_row *rows, size_t count, size_t ascending, piece_fn *fn, void *ctx);
