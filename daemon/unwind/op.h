/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns a row into an operation of bpf/unwind_table.h: inline if it fits into 24 bits, else as a
 * rule, else as an operation that says why the walk cannot go on. Pure functions.
 */
#pragma once

#include "bpf/unwind_table.h"
#include "cfi/frame_row.h"

enum machine { MACHINE_X86_64, MACHINE_ARM64 };

#define OP_OF_NAME(name) ((uint32_t)OP_NAMED << OP_BASE_SHIFT | (uint32_t)(name))

/* Returns the operation. If its base is OP_RULE, the rule's number is not filled in and *ret_rule
 * is written. */
uint32_t op_of_row(enum machine machine, const struct frame_row *row, struct unwind_rule *ret_rule);
