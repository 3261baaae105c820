/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Translates Zydis's view of an instruction to struct insn. An instruction that is not recognized
 * stays a plain write of every register that Zydis says it writes, hidden operands included.
 */
#include "follow/follow_insn.h"

static void set_place(struct insn *insn, const ZydisDecodedOperand *operand)
{
	insn->base = reg_general(operand->mem.base);
	insn->disp = (int32_t)operand->mem.disp.value;
}

static void note_writes(struct insn *insn, const struct decoded *from)
{
	for (size_t i = 0; i < from->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &from->operands[i];

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand_is_reg(operand)) {
			uint8_t reg = reg_general_with(operand->reg.value);
			if (reg != NO_REG)
				insn->writes |= (uint16_t)(1U << reg);
		} else if (operand_is_place(operand)) {
			set_place(insn, operand);
			insn->stored = operand->size / 8;
		}
	}
}

static void decode_mov(struct insn *insn, const struct decoded *from)
{
	const ZydisDecodedOperand *to = &from->operands[0], *what = &from->operands[1];

	if (operand_is_reg64(to) && operand_is_reg64(what)) {
		insn->kind = INSN_SET;
		insn->dst = reg_general(to->reg.value);
		insn->src = reg_general(what->reg.value);
	} else if (operand_is_reg(to) && operand_is_imm(what) && to->size >= 32 &&
	           reg_general_with(to->reg.value) != NO_REG && what->imm.value.s >= 0) {
		insn->kind = INSN_SET;
		insn->dst = reg_general_with(to->reg.value);
		insn->imm = (int32_t)what->imm.value.s;
		insn->target = what->imm.value.u;
	} else if (operand_is_reg(to) && operand_is_imm(what) &&
	           to->reg.value == ZYDIS_REGISTER_AL) {
		insn->kind = INSN_SET_LOW;
		insn->dst = REG_RAX;
		insn->imm = (int32_t)(what->imm.value.s & 0xff);
	} else if (operand_is_reg64(to) && operand_is_place(what)) {
		insn->kind = INSN_LOAD;
		insn->dst = reg_general(to->reg.value);
		set_place(insn, what);
	} else if (operand_is_place(to) && operand_is_reg64(what)) {
		insn->kind = INSN_STORE;
		insn->src = reg_general(what->reg.value);
	}
}

static void decode_lea(struct insn *insn, const struct decoded *from)
{
	const ZydisDecodedOperand *to = &from->operands[0], *what = &from->operands[1];

	if (!operand_is_reg64(to))
		return;
	if (operand_is_place(what)) {
		insn->kind = INSN_SET;
		insn->dst = reg_general(to->reg.value);
		insn->src = reg_general(what->mem.base);
		insn->imm = (int32_t)what->mem.disp.value;
	} else if (what->mem.base == ZYDIS_REGISTER_RIP && what->mem.index == ZYDIS_REGISTER_NONE) {
		insn->target = from->address + insn->len + (uint64_t)what->mem.disp.value;
	}
}

/* add, sub, and, xor */
static void decode_arithmetic(struct insn *insn, const struct decoded *from)
{
	const ZydisDecodedOperand *to = &from->operands[0], *what = &from->operands[1];
	ZydisMnemonic mnemonic = from->instruction.mnemonic;
	bool clears = mnemonic == ZYDIS_MNEMONIC_XOR || mnemonic == ZYDIS_MNEMONIC_SUB;

	if (!operand_is_reg(to) || to->size < 32 || reg_general_with(to->reg.value) == NO_REG)
		return;
	if (clears && operand_is_reg(what) && what->reg.value == to->reg.value) {
		insn->kind = INSN_SET;
		insn->dst = reg_general_with(to->reg.value);
	} else if (operand_is_reg64(to) && operand_is_imm(what) && mnemonic != ZYDIS_MNEMONIC_XOR) {
		int64_t value = what->imm.value.s;

		if (value == INT32_MIN)
			return;
		insn->dst = reg_general(to->reg.value);
		insn->imm = (int32_t)(mnemonic == ZYDIS_MNEMONIC_SUB ? -value : value);
		if (mnemonic != ZYDIS_MNEMONIC_AND) {
			insn->kind = INSN_SET;
			insn->src = insn->dst;
		} else if (value < 0 && !(-value & (-value - 1))) {
			insn->kind = INSN_ALIGN;
		}
	}
}

static void decode_stack(struct insn *insn, const struct decoded *from)
{
	const ZydisDecodedOperand *what = &from->operands[0];
	bool explicit = what->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	uint8_t reg = explicit && operand_is_reg64(what) ? reg_general(what->reg.value) : NO_REG;

	insn->imm = from->instruction.operand_width / 8;
	switch (from->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_POP:
		/* A pop to memory computes the address after the stack pointer has moved, so the
		 * place is unknown. */
		insn->kind = INSN_POP;
		insn->dst = reg;
		break;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		insn->kind = INSN_POP;
		break;
	default:
		insn->kind = INSN_PUSH;
		insn->src = reg;
	}
	/* Besides its operand, the instruction writes only the stack pointer, which its kind
	 * implies. */
	insn->writes = 0;
	insn->stored = 0;
	if (explicit && operand_is_reg(what) && insn->kind == INSN_POP && reg == NO_REG) {
		uint8_t part = reg_general_with(what->reg.value);
		insn->writes = part == NO_REG ? 0 : (uint16_t)(1U << part);
	}
}

static uint64_t relative_target(const struct decoded *from)
{
	const ZydisDecodedOperand *to = &from->operands[0];

	if (to->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !to->imm.is_relative)
		return 0;
	return from->address + from->instruction.length + (uint64_t)to->imm.value.s;
}

static void decode_call(struct insn *insn, const struct decoded *from)
{
	insn->writes = 0;
	insn->stored = 0;
	if (from->instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
		insn->kind = INSN_END;
		return;
	}
	insn->kind = INSN_CALL;
	insn->target = relative_target(from);
	/* A call to the next instruction is the idiom that reads the program counter: it only
	 * pushes. */
	if (insn->target == from->address + insn->len) {
		insn->kind = INSN_PUSH;
		insn->imm = 8;
		insn->target = 0;
	}
}

static void decode_jump(struct insn *insn, const struct decoded *from)
{
	const ZydisDecodedOperand *to = &from->operands[0];

	insn->kind =
		from->instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? INSN_END : INSN_JUMP;
	insn->target = relative_target(from);
	insn->table =
		(from->instruction.attributes & ZYDIS_ATTRIB_HAS_NOTRACK) ||
		(to->type == ZYDIS_OPERAND_TYPE_MEMORY && to->mem.index != ZYDIS_REGISTER_NONE);
}

static void decode_branch(struct insn *insn, const struct decoded *from)
{
	insn->kind = INSN_BRANCH;
	insn->target = relative_target(from);
	if (from->instruction.mnemonic == ZYDIS_MNEMONIC_JZ)
		insn->when = WHEN_ZERO;
	else if (from->instruction.mnemonic == ZYDIS_MNEMONIC_JNZ)
		insn->when = WHEN_NOT_ZERO;
}

static void decode_pair(struct insn *insn, const struct decoded *from)
{
	const ZydisDecodedOperand *to = &from->operands[0], *what = &from->operands[1];

	if (from->instruction.mnemonic == ZYDIS_MNEMONIC_XCHG) {
		if (!operand_is_reg64(to) || !operand_is_reg64(what))
			return;
		insn->kind = INSN_EXCHANGE;
		insn->dst = reg_general(to->reg.value);
		insn->src = reg_general(what->reg.value);
	} else if (operand_is_reg(to) && operand_is_reg(what) && to->reg.value == what->reg.value &&
	           to->size >= 32) {
		insn->kind = INSN_TEST;
		insn->dst = reg_general_with(to->reg.value);
	}
}

static void decode_mnemonic(struct insn *insn, const struct decoded *from)
{
	switch (from->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		decode_mov(insn, from);
		break;
	case ZYDIS_MNEMONIC_LEA:
		decode_lea(insn, from);
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_XOR:
		decode_arithmetic(insn, from);
		break;
	case ZYDIS_MNEMONIC_XCHG:
	case ZYDIS_MNEMONIC_TEST:
		decode_pair(insn, from);
		break;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		decode_stack(insn, from);
		break;
	case ZYDIS_MNEMONIC_ENTER:
		/* No current compiler makes nested frames. */
		if (operand_is_imm(&from->operands[1]) && !from->operands[1].imm.value.s &&
		    from->instruction.operand_width == 64) {
			insn->kind = INSN_ENTER;
			insn->imm = (int32_t)(from->operands[0].imm.value.u & 0xffff);
		}
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		if (from->instruction.operand_width == 64)
			insn->kind = INSN_LEAVE;
		break;
	case ZYDIS_MNEMONIC_SYSCALL:
		insn->kind = INSN_SYSCALL;
		insn->writes |= 1 << REG_RAX;
		break;
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		insn->kind = INSN_END;
		break;
	default:
		break;
	}
}

bool insn_decode(const ZydisDecoder *decoder, const uint8_t *code, size_t len, uint64_t address,
                 struct insn *ret_insn)
{
	struct decoded from;

	if (!decoded_read(decoder, code, len, &from))
		return false;
	from.address = address;
	*ret_insn = (struct insn){
		.len = from.instruction.length,
		.dst = NO_REG,
		.src = NO_REG,
		.base = NO_REG,
	};
	note_writes(ret_insn, &from);
	switch (from.instruction.meta.category) {
	case ZYDIS_CATEGORY_CALL:
		decode_call(ret_insn, &from);
		break;
	case ZYDIS_CATEGORY_RET:
		ret_insn->kind = from.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR
		                         ? INSN_END
		                         : INSN_RETURN;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		decode_jump(ret_insn, &from);
		break;
	case ZYDIS_CATEGORY_COND_BR:
		decode_branch(ret_insn, &from);
		break;
	case ZYDIS_CATEGORY_SYSRET:
		ret_insn->kind = INSN_END;
		break;
	default:
		decode_mnemonic(ret_insn, &from);
	}
	return true;
}
