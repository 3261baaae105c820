/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a row to an operation of bpf/unwind_table.h: inline where it fits into 24 bits, else as a
 * rule, else as one that says why the walk cannot go on. Pure.
 */
#pragma once

#include "bpf/unwind_table.h"
#include "object/frame_row.h"
#include "unwind/table.h"

#define OP_OF_NAME(name) ((uint32_t)OP_NAMED << OP_BASE_SHIFT | (uint32_t)(name))

/* The operation; where its base is OP_RULE, without the rule's number and with *ret_rule written.
 */
uint32_t op_of_row(enum machine machine, const struct frame_row *row, struct unwind_rule *ret_rule);
