/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the targets of the jumps in a piece of code. Any thread.
 */
#pragma once

#include "elf/elf.h"

/* Calls fn for the target of each jump in [start, end) whose instruction holds the target. Stops
 * when fn returns non-zero, and returns that value. x86-64; on other machines there are no jumps.
 * -EBADMSG when the file does not hold the code, -ENOMEM. */
typedef int python_jump_fn(uint64_t target, void *ctx);
int python_jumps(const struct elf *elf, uint64_t start, uint64_t end, python_jump_fn *fn,
                 void *ctx);
