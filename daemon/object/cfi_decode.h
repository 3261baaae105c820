/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One call frame instruction, decoded by the shape of its operands, so that one that does not
 * matter to rows is skipped as exactly as others are followed.
 */
#pragma once

#include "object/cfi.h"
#include "object/cursor.h"

/* Numbers are sign-extended where the instruction's are signed. Of the three opcodes that hold an
 * operand themselves, `op` is the opcode alone. */
struct cfi_instruction {
	uint8_t op;
	uint64_t first, second;
	const uint8_t *block; /* an expression */
	size_t block_len;
};

/* false when it is none, or is cut off. */
bool cfi_decode(struct cursor *cursor, const struct cfi_common *common,
                struct cfi_instruction *ret_instruction);
