/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A decoded instruction and its operands, as the disassembler returns them. The differences between
 * versions of the disassembler are hidden here.
 */
#pragma once

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* General registers have their DWARF numbers. */
enum { REG_RAX = 0, REG_RBP = 6, REG_RSP = 7, GENERAL_REGS = 16, NO_REG = 0xff };

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address;
};

bool decoder_init(ZydisDecoder *decoder);
/* False: the bytes are no instruction. `ret_decoded->address` is set by the caller. */
bool decoded_read(const ZydisDecoder *decoder, const uint8_t *code, size_t len,
                  struct decoded *ret_decoded);

/* The number of a whole 64-bit general register, else NO_REG. */
uint8_t reg_general(ZydisRegister reg);
/* The same for the 64-bit register that `part` is a part of. */
uint8_t reg_general_with(ZydisRegister part);

bool operand_is_reg(const ZydisDecodedOperand *operand);
bool operand_is_reg64(const ZydisDecodedOperand *operand);
/* A constant that fits in 32 bits, sign-extended. */
bool operand_is_imm(const ZydisDecodedOperand *operand);
/* Memory at a general register plus a constant, without fs or gs: it may be on the stack. */
bool operand_is_place(const ZydisDecodedOperand *operand);
