/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rows for code that no call frame information describes, such as hand-written assembly: by
 * following the stack pointer through a function's instructions, from a place where the state is
 * known (a function's first byte: the return address is on top of the stack) along every branch. A
 * row that cannot be proven is not made: where two paths meet with different states, or something
 * unknown happens to the stack pointer, nothing is said from there on. x86-64 only, so far.
 */
#pragma once

#include "object/elf.h"
#include "object/frame_row.h"

#include <stddef.h>

/* A range of own addresses. */
struct range {
	uint64_t start, end;
};

/* Calls fn for each row that can be proven of one function, by ascending address, never
 * overlapping; `code` is what the file holds at `address`, and no instruction outside it is looked
 * at. */
int follow_function(const uint8_t *code, size_t len, uint64_t address, frame_row_fn *fn, void *ctx);

/* Finds functions in the executable bytes of a file that lie outside the ranges that are described
 * already (sorted, not overlapping), and follows each: entries are function symbols, the file's
 * entry point, what relocations of data point at, and what the code found so far calls. Rows come
 * in any order but never overlap each other or `described`. 0, -ENOMEM, or what fn returned;
 * bounded work. */
int follow_gaps(const struct elf *elf, const struct range *described, size_t count,
                frame_row_fn *fn, void *ctx);
