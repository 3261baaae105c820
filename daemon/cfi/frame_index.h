/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct frame_index - .eh_frame_hdr: a sorted index that says which entry of .eh_frame describes
 * which code. It makes it possible to find one part of a file's call frame information without
 * reading the rest. Only the form that linkers write is supported. The index is not kept in memory,
 * and is trusted only for where to look. Format: LSB core, "Exception Frame Header".
 */
#pragma once

#include "elf/elf.h"

struct frame_index {
	const struct elf *elf;
	uint64_t address; /* own address of the index; its numbers are relative to it */
	uint64_t frames;  /* own address of .eh_frame */
	size_t count;
};

/* `start`: where the entry's code begins. `entry`: where the entry itself is. Own addresses. */
struct frame_place {
	uint64_t start, entry;
};

/* False: the file has no usable index, or describes code in another section too. */
bool frame_index_open(const struct elf *elf, struct frame_index *ret_index);
/* The index of the last entry that begins at or below an address; 0 when none does. */
size_t frame_index_find(const struct frame_index *index, uint64_t address);
/* Reads up to `count` entries, beginning with number `first`. Returns how many were read. */
size_t frame_index_read(const struct frame_index *index, size_t first, struct frame_place *ret,
                        size_t count);
