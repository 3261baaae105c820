/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes rows for code that no call frame information describes, such as hand-written assembly. It
 * follows the stack pointer through a function's instructions along every branch, from a place
 * where the state is known (at a function's first byte the return address is on top of the stack).
 * A row that cannot be proven is not made: where two paths meet with different states, or something
 * unknown happens to the stack pointer, there are no rows from there on. x86-64 only.
 */
#pragma once

#include "cfi/frame_row.h"
#include "elf/elf.h"

#include <stddef.h>

/* Calls fn for each row of one function that can be proven, in ascending order, never overlapping.
 * `code` is what the file holds at `address`; instructions outside it are not looked at. */
int follow_function(const uint8_t *code, size_t len, uint64_t address, frame_row_fn *fn, void *ctx);

/* Finds functions in the executable bytes of a file that lie outside the described ranges (sorted,
 * not overlapping), and follows each. The entries are function symbols, the file's entry point,
 * targets of relocations in data, and targets of calls in the code found so far. Rows come in any
 * order but never overlap each other or `described`. Returns 0, -ENOMEM, or what fn returned. The
 * work is bounded. */
int follow_gaps(const struct elf *elf, const struct range *described, size_t count,
                frame_row_fn *fn, void *ctx);
