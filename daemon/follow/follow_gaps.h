/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gaps - the executable bytes of a file that no row describes. They are read piece by piece.
 */
#pragma once

#include "cfi/frame_row.h"
#include "elf/elf.h"

enum { GAP_WINDOW_BYTES = 1 << 20 };

struct gaps {
	const struct elf *elf;
	const struct range *described;
	size_t count;
	uint8_t *window; /* the bytes that were read last: [start, start + bytes) */
	uint64_t window_start;
	size_t window_bytes;
};

int gaps_init(struct gaps *gaps, const struct elf *elf, const struct range *described,
              size_t count);
void gaps_end(struct gaps *gaps);

/* Finds the gap that contains an address. */
bool gaps_find(const struct gaps *gaps, uint64_t address, struct range *ret_gap);
/* Finds the first gap that ends above an address. */
bool gaps_above(const struct gaps *gaps, uint64_t address, struct range *ret_gap);
/* Reads bytes of a gap from `start` up to `end`, at most GAP_WINDOW_BYTES; they stay valid until
 * the next call. NULL when the file does not hold them. */
const uint8_t *gaps_read(struct gaps *gaps, uint64_t start, uint64_t end, size_t *ret_len);
