/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decodes one call frame instruction by the shape of its operands. So an instruction that does not
 * matter to rows is skipped by exactly its length.
 */
#pragma once

#include "elf/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operands are sign-extended where the instruction's are signed. For the three opcodes that hold an
 * operand in their low bits, `op` is the opcode without it. */
struct cfi_instruction {
	uint8_t op;
	uint64_t first, second;
	const uint8_t *block; /* an expression */
	size_t block_len;
};

/* Addresses are encoded as the CIE says: its DW_EH_PE_, and the size of an address. False: the
 * bytes are no known instruction, or end inside it. */
bool cfi_decode(struct cursor *cursor, uint8_t pointer_encoding, uint8_t address_bytes,
                struct cfi_instruction *ret_instruction);
