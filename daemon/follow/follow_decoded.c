/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hides the differences between versions of the disassembler, and maps its registers to DWARF
 * numbers.
 */
#include "follow/follow_decoded.h"

/* Before version 4 the operands are part of the instruction. */
#ifdef ZYDIS_MAX_OPERAND_COUNT_VISIBLE
bool decoder_init(ZydisDecoder *decoder)
{
	return ZYAN_SUCCESS(
		ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

bool decoded_read(const ZydisDecoder *decoder, const uint8_t *code, size_t len,
                  struct decoded *ret_decoded)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code, len, &ret_decoded->instruction,
	                                           ret_decoded->operands));
}
#else
bool decoder_init(ZydisDecoder *decoder)
{
	return ZYAN_SUCCESS(
		ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_ADDRESS_WIDTH_64));
}

bool decoded_read(const ZydisDecoder *decoder, const uint8_t *code, size_t len,
                  struct decoded *ret_decoded)
{
	ZydisDecodedInstruction *instruction = &ret_decoded->instruction;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeBuffer(decoder, code, len, instruction)))
		return false;
	for (size_t i = 0; i < instruction->operand_count; i++)
		ret_decoded->operands[i] = instruction->operands[i];
	return true;
}
#endif

uint8_t reg_general(ZydisRegister reg)
{
	static const uint8_t dwarf[GENERAL_REGS] = {0, 2, 1,  3,  7,  6,  4,  5,
	                                            8, 9, 10, 11, 12, 13, 14, 15};

	if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15)
		return NO_REG;
	return dwarf[reg - ZYDIS_REGISTER_RAX];
}

uint8_t reg_general_with(ZydisRegister part)
{
	return reg_general(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part));
}

bool operand_is_reg(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

bool operand_is_reg64(const ZydisDecodedOperand *operand)
{
	return operand_is_reg(operand) && reg_general(operand->reg.value) != NO_REG;
}

bool operand_is_imm(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.value.s >= INT32_MIN &&
	       operand->imm.value.s <= INT32_MAX;
}

bool operand_is_place(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       operand->mem.segment != ZYDIS_REGISTER_FS &&
	       operand->mem.segment != ZYDIS_REGISTER_GS &&
	       operand->mem.index == ZYDIS_REGISTER_NONE &&
	       reg_general(operand->mem.base) != NO_REG && operand->mem.disp.value >= INT32_MIN &&
	       operand->mem.disp.value <= INT32_MAX;
}
