/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pieces - how an executable's text is divided among tables: by whole PIECE_BYTES of its own
 * addresses, so that the walker finds a piece by a shift. What is hardly larger than one piece is
 * not divided. Pure; any thread.
 */
#pragma once

#include "bpf/unwind_table.h"
#include "object/elf.h"
#include "unwind/follow.h"

struct pieces {
	uint64_t first; /* its own addresses, in pieces */
	uint32_t count; /* 1: one table is of all of it */
};

/* From the first executable byte in the file to the last; -ENODATA when there is none. */
int text_of_elf(const struct elf *elf, struct range *ret_text);
/* As many as the file has bytes for, twice over at most. */
struct pieces pieces_of(const struct elf *elf);
/* The own addresses that a piece's table is of: all where there is but one. */
struct range piece_range(const struct pieces *pieces, uint32_t number);
/* Says of a mapping, whose `table` is the number of the first piece's, how the walker finds the
 * others. Nothing is in it before the first piece: where it ends before that it has none. */
void pieces_map(const struct pieces *pieces, struct unwind_mapping *mapping);
