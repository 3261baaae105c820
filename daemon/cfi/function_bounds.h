/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The bounds of functions, from call frame information. In a file without symbols, they are the
 * only way to distinguish functions. Any thread.
 */
#pragma once

#include "elf/elf.h"

struct bounds {
	uint64_t start, end; /* [start, end); both 0: unknown */
};

/* Finds the bounds of the function at each of `count` ascending addresses. Bounds are 0 where the
 * file has no such information. Nothing is kept; work is linear in the section's size and `count`.
 * 0 or -ENOMEM. */
int function_bounds(const struct elf *elf, const uint64_t *addresses, size_t count,
                    struct bounds *ret_bounds);
