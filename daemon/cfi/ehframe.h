/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The call frame information of a file: .eh_frame, and .debug_frame for code that .eh_frame does
 * not describe. No state; any thread. Formats: DWARF 5 section 6.4; LSB core, "Exception Frames";
 * System V ABI for x86-64 and arm64, DWARF register numbers.
 */
#pragma once

#include "cfi/frame_row.h"
#include "elf/elf.h"

/* Calls fn for each row in ascending order of addresses. Rows never overlap: where descriptions
 * overlap, the one that begins first applies to its end. Returns 0; -ENODATA when the file has no
 * such information; -EBADMSG when the information is broken before its first entry (if it is broken
 * later, the rows before that are reported and broken entries are skipped where that is possible);
 * -ENOMEM; or what fn returned. Work is linear in the section's size. */
int ehframe_each_row(const struct elf *elf, frame_row_fn *fn, void *ctx);
/* Reports only the rows of [start, end), and the rows around them up to the next gap in the
 * descriptions. If the file has an index (cfi/frame_index.h), the cost depends on the size of
 * that part only. */
int ehframe_each_row_of(const struct elf *elf, uint64_t start, uint64_t end, frame_row_fn *fn,
                        void *ctx);
