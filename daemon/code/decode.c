/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Translates the disassembler's view of an instruction to struct decoded_insn.
 */
#include "code/decode.h"

#include <Zydis/Zydis.h>

struct full {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Before version 4 the operands are part of the instruction. */
#ifdef ZYDIS_MAX_OPERAND_COUNT_VISIBLE
static bool decode(const uint8_t *code, size_t len, struct full *ret_full)
{
	ZydisDecoder decoder;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
	                                     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, len, &ret_full->instruction,
	                                           ret_full->operands));
}
#else
static bool decode(const uint8_t *code, size_t len, struct full *ret_full)
{
	ZydisDecodedInstruction *instruction = &ret_full->instruction;
	ZydisDecoder decoder;

	if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
	                                   ZYDIS_ADDRESS_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeBuffer(&decoder, code, len, instruction)))
		return false;
	for (size_t i = 0; i < instruction->operand_count; i++)
		ret_full->operands[i] = instruction->operands[i];
	return true;
}
#endif

static uint16_t written(const struct full *full)
{
	uint16_t writes = 0;

	for (size_t i = 0; i < full->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];

		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
		                                                       operand->reg.value);
		if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
			writes |= (uint16_t)(1U << (whole - ZYDIS_REGISTER_RAX));
	}
	return writes;
}

/* Recognizes the plain forms, which are the only ones that compilers write. slide.h says where the
 * list comes from. */
static bool is_emulated(const uint8_t *code, size_t len)
{
	switch (len) {
	case 1:
		return code[0] == 0x90 || (code[0] & 0xf8) == 0x50; /* nop; push */
	case 2:
		return code[0] == 0xeb || (code[0] & 0xf0) == 0x70 || /* jump; branch */
		       (code[0] == 0x66 && code[1] == 0x90) ||
		       (code[0] == 0x41 && (code[1] & 0xf8) == 0x50); /* push of r8 to r15 */
	case 5:
		return code[0] == 0xe9 || code[0] == 0xe8; /* jump; call */
	case 6:
		return code[0] == 0x0f && (code[1] & 0xf0) == 0x80; /* branch */
	default:
		return false;
	}
}

static enum decoded_kind kind_of(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return DECODED_CALL;
	case ZYDIS_CATEGORY_COND_BR:
		return DECODED_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return DECODED_JUMP;
	case ZYDIS_CATEGORY_RET:
		return DECODED_RETURN;
	default:
		return instruction->mnemonic == ZYDIS_MNEMONIC_UD2 ||
		                       instruction->mnemonic == ZYDIS_MNEMONIC_HLT ||
		                       instruction->mnemonic == ZYDIS_MNEMONIC_INT3
		               ? DECODED_END
		               : DECODED_PLAIN;
	}
}

/* Determines the effect on the stack pointer, for instructions that occur at the beginning of
 * functions. */
static void note_stack(const struct full *full, struct decoded_insn *insn)
{
	const ZydisDecodedOperand *operands = full->operands;
	ZydisMnemonic mnemonic = full->instruction.mnemonic;

	insn->stack_known = !(insn->writes & WRITES_RSP);
	if (mnemonic == ZYDIS_MNEMONIC_PUSH && full->instruction.operand_width == 64) {
		insn->stack_known = true;
		insn->stack_down = 8;
	} else if ((mnemonic == ZYDIS_MNEMONIC_SUB || mnemonic == ZYDIS_MNEMONIC_ADD) &&
	           operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	           operands[0].reg.value == ZYDIS_REGISTER_RSP &&
	           operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	           operands[1].imm.value.s >= -(1 << 20) && operands[1].imm.value.s <= 1 << 20) {
		int32_t bytes = (int32_t)operands[1].imm.value.s;
		insn->stack_known = true;
		insn->stack_down = mnemonic == ZYDIS_MNEMONIC_SUB ? bytes : -bytes;
	}
}

bool decode_insn(const uint8_t *code, size_t len, uint64_t address, struct decoded_insn *ret_insn)
{
	struct full full;

	if (!decode(code, len, &full))
		return false;
	const ZydisDecodedInstruction *instruction = &full.instruction;
	*ret_insn = (struct decoded_insn){
		.kind = kind_of(instruction),
		.len = instruction->length,
		.emulated = is_emulated(code, instruction->length),
		.writes = written(&full),
	};
	note_stack(&full, ret_insn);
	if (ret_insn->kind >= DECODED_CALL && ret_insn->kind <= DECODED_JUMP &&
	    instruction->raw.imm[0].is_relative) {
		ret_insn->has_target = true;
		ret_insn->target =
			address + instruction->length + (uint64_t)instruction->raw.imm[0].value.s;
	}
	return true;
}
