/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where functions begin and end, from the call frame information: what is left to tell functions
 * apart by in a file without symbols. Any thread.
 */
#pragma once

#include "object/elf.h"

struct bounds {
	uint64_t start, end; /* [start, end); both 0: not known */
};

/* The bounds of the function at each of `count` ascending addresses. Without such information all
 * are 0. Nothing is kept; work is linear in the section's size and `count`. 0 or -ENOMEM. */
int function_bounds(const struct elf *elf, const uint64_t *addresses, size_t count,
                    struct bounds *ret_bounds);
