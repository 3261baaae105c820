/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The call frame information of a file: .eh_frame, and .debug_frame where that says nothing.
 * No state; any thread. Formats: DWARF 5 section 6.4; LSB core, "Exception Frames"; System V ABI
 * for x86-64 and arm64, DWARF register numbers.
 */
#pragma once

#include "object/elf.h"
#include "object/frame_row.h"

/* Calls fn for each row, by ascending address and never overlapping: where descriptions overlap the
 * one that begins first holds to its end. Addresses that no call lies over have no description. 0;
 * -ENODATA when the file has no such information; -EBADMSG when it is broken before its first
 * entry (broken later, what came before is reported and the rest skipped entry by entry where that
 * is possible); -ENOMEM; or what fn returned. Work is linear in the section's size. */
int ehframe_each_row(const struct elf *elf, frame_row_fn *fn, void *ctx);
/* The same rows, but only those of [start, end) and some around them: as far as what is described
 * there goes on without a gap. Takes as long as that, where the file has an index
 * (object/frame_index.h). */
int ehframe_each_row_of(const struct elf *elf, uint64_t start, uint64_t end, frame_row_fn *fn,
                        void *ctx);
