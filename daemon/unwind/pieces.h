/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pieces - how an executable's text is divided among tables: by multiples of PIECE_BYTES in
 * its own addresses, so that the walker finds a piece with a shift. A text that is hardly larger
 * than one piece is not divided. Pure; any thread.
 */
#pragma once

#include "bpf/unwind_table.h"
#include "elf/elf.h"
#include "follow/follow.h"

struct pieces {
	uint64_t first; /* own address of the first piece, in units of PIECE_BYTES */
	uint32_t count; /* 1: one table covers the whole text */
};

/* The range from the first byte of code to the last: of the sections with code, or of the
 * executable segments where there are no sections. -ENODATA when there is no code. */
int text_of_elf(const struct elf *elf, struct range *ret_text);
/* Divides the text. A text that is more than twice as long as its bytes in the file is not
 * divided. */
struct pieces pieces_of(const struct elf *elf);
/* The own addresses that a piece's table covers: all addresses if there is only one piece. */
struct range piece_range(const struct pieces *pieces, uint32_t number);
/* Changes a mapping so that the walker finds all of its pieces. On entry `table` is the number of
 * the first piece's table. There is no code before the first piece: a mapping that ends before it
 * gets no table. */
void pieces_map(const struct pieces *pieces, struct unwind_mapping *mapping);
