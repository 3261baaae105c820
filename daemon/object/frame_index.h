/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct frame_index - .eh_frame_hdr: which entry of .eh_frame describes which code, sorted. With
 * it a part of a file's call frame information is found without reading the rest. Only the form
 * that linkers make; nothing of it is kept, and nothing of what it says is believed but where to
 * look. Format: LSB core, "Exception Frame Header".
 */
#pragma once

#include "object/elf.h"

struct frame_index {
	const struct elf *elf;
	uint64_t address; /* its own, which its numbers are relative to */
	uint64_t frames;  /* own address of .eh_frame */
	size_t count;
};

/* An entry's code begins at `start`; where it stands itself, in own addresses. */
struct frame_place {
	uint64_t start, entry;
};

/* False when the file has none that can be used, or describes code in another section too. */
bool frame_index_open(const struct elf *elf, struct frame_index *ret_index);
/* The last entry that begins at or below an address; 0 when none does. */
size_t frame_index_find(const struct frame_index *index, uint64_t address);
/* Reads up to `count` from number `first` on; how many were there. */
size_t frame_index_read(const struct frame_index *index, size_t first, struct frame_place *ret,
                        size_t count);
