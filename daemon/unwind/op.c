/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Almost every row of real files fits inline. The rest are realigned frames, hand-written assembly
 * and signal code.
 */
#include "unwind/op.h"

enum { WORD = 8, ARM64_CFA_UNIT = 16 };

static const struct {
	uint8_t sp, fp, pc;
} registers[] = {
	[MACHINE_X86_64] = {X86_REG_SP, X86_REG_FP, X86_REG_PC},
	[MACHINE_ARM64] = {ARM64_REG_SP, ARM64_REG_FP, ARM64_REG_PC},
};

/* value / unit, if the division is exact and the result is between `min` and `max`. */
static bool in_units(int64_t value, int64_t unit, int64_t min, int64_t max, uint32_t *ret_units)
{
	if (value % unit || value / unit < min || value / unit > max)
		return false;
	*ret_units = (uint32_t)(value / unit);
	return true;
}

/* Whether the register is saved a whole number of words below the CFA, 1 to `max`. */
static bool below_cfa(const struct save *save, int64_t max, uint32_t *ret_words)
{
	return save->kind == SAVE_AT_CFA && in_units(save->offset, -WORD, 1, max, ret_words);
}

/* A function that declares the frame pointer undefined does not use it, so it is unchanged. */
static bool is_same(const struct save *save)
{
	return save->kind == SAVE_SAME || save->kind == SAVE_UNDEFINED;
}

static bool inline_base(enum machine machine, const struct cfa *cfa, enum op_base *ret_base)
{
	if (cfa->kind != CFA_REGISTER ||
	    (cfa->reg != registers[machine].sp && cfa->reg != registers[machine].fp))
		return false;
	*ret_base = cfa->reg == registers[machine].sp ? OP_SP : OP_FP;
	return true;
}

static bool inline_x86(const struct frame_row *row, uint32_t *ret_op)
{
	uint32_t cfa, fp = 0, ra;
	enum op_base base;

	if (!inline_base(MACHINE_X86_64, &row->cfa, &base) ||
	    !in_units(row->cfa.offset, WORD, 0, X86_CFA_MAX, &cfa) ||
	    !below_cfa(&row->ra, 1, &ra) ||
	    (!is_same(&row->fp) && !below_cfa(&row->fp, X86_FP_MAX, &fp)))
		return false;
	*ret_op = (uint32_t)base << OP_BASE_SHIFT | cfa << X86_CFA_SHIFT | fp |
	          (row->chained ? X86_CHAINED : 0);
	return true;
}

static bool in_link_register(const struct save *ra)
{
	return ra->kind == SAVE_SAME || (ra->kind == SAVE_IN && ra->reg == ARM64_REG_LR);
}

static bool inline_arm64(const struct frame_row *row, uint32_t *ret_op)
{
	uint32_t cfa, fp, ra = 0, pair = 0;
	enum op_base base;

	if (!inline_base(MACHINE_ARM64, &row->cfa, &base) ||
	    !in_units(row->cfa.offset, ARM64_CFA_UNIT, 0, ARM64_CFA_MAX, &cfa) ||
	    (!in_link_register(&row->ra) && !below_cfa(&row->ra, ARM64_RA_MAX, &ra)))
		return false;
	if (!is_same(&row->fp)) {
		if (!ra || !below_cfa(&row->fp, ARM64_RA_MAX + 1, &fp) || fp != ra + 1)
			return false;
		pair = ARM64_PAIR;
	}
	*ret_op = (uint32_t)base << OP_BASE_SHIFT | cfa << ARM64_CFA_SHIFT | ra << ARM64_RA_SHIFT |
	          pair;
	return true;
}

static bool rule_cfa(const struct cfa *cfa, struct unwind_rule *rule)
{
	if ((cfa->kind != CFA_REGISTER && cfa->kind != CFA_DEREF) || cfa->reg >= MAX_REGS ||
	    cfa->offset < INT32_MIN || cfa->offset > INT32_MAX)
		return false;
	rule->cfa_register = cfa->reg;
	rule->cfa_offset = (int)cfa->offset;
	if (cfa->kind == CFA_DEREF) {
		if (cfa->add < INT16_MIN || cfa->add > INT16_MAX)
			return false;
		rule->cfa = RULE_CFA_DEREF;
		rule->cfa_add = (short)cfa->add;
	}
	return true;
}

/* Handles SAVE_AT_CFA, SAVE_AT and SAVE_IN. */
static bool rule_save(const struct save *save, unsigned char *where, unsigned char *reg,
                      short *offset)
{
	bool relative = save->kind == SAVE_AT_CFA || save->kind == SAVE_AT;
	bool with_register = save->kind == SAVE_AT || save->kind == SAVE_IN;

	if ((!relative && !with_register) || (with_register && save->reg >= MAX_REGS) ||
	    (relative && (save->offset < INT16_MIN || save->offset > INT16_MAX)))
		return false;
	*where = save->kind == SAVE_AT_CFA ? RULE_AT_CFA
	         : save->kind == SAVE_AT   ? RULE_AT_REGISTER
	                                   : RULE_IN_REGISTER;
	*reg = with_register ? save->reg : 0;
	*offset = (short)(relative ? save->offset : 0);
	return true;
}

static bool make_rule(enum machine machine, const struct frame_row *row, struct unwind_rule *rule)
{
	struct save fp = row->fp, ra = row->ra;

	/* An unknown frame pointer must not be taken for the caller's. It is replaced by the
	 * program counter, which cannot be the address of a stack: the walk goes on, and ends with
	 * a truncated stack at a frame that needs the frame pointer. */
	if (fp.kind == SAVE_OTHER)
		fp = (struct save){.kind = SAVE_IN, .reg = registers[machine].pc};
	if (machine == MACHINE_ARM64 && ra.kind == SAVE_SAME)
		ra = (struct save){.kind = SAVE_IN, .reg = ARM64_REG_LR};
	if (!rule_cfa(&row->cfa, rule) ||
	    !rule_save(&ra, &rule->ra, &rule->ra_register, &rule->ra_offset))
		return false;
	return is_same(&fp) || rule_save(&fp, &rule->fp, &rule->fp_register, &rule->fp_offset);
}

uint32_t op_of_row(enum machine machine, const struct frame_row *row, struct unwind_rule *ret_rule)
{
	struct unwind_rule rule = {.cfa = RULE_CFA_REGISTER, .fp = RULE_SAME};
	uint32_t op;

	if (row->signal_frame)
		return OP_OF_NAME(OP_SIGNAL);
	if (row->ra.kind == SAVE_UNDEFINED)
		return OP_OF_NAME(OP_STOP);
	if (row->cfa.kind == CFA_PLT) {
		if (machine != MACHINE_X86_64 || row->cfa.offset < 0 || row->cfa.offset > UINT8_MAX)
			return OP_OF_NAME(OP_UNSUPPORTED);
		return OP_OF_NAME(OP_PLT) | (uint32_t)row->cfa.offset << 8;
	}
	if (machine == MACHINE_X86_64 ? inline_x86(row, &op) : inline_arm64(row, &op))
		return op;
	if (!make_rule(machine, row, &rule))
		return OP_OF_NAME(OP_UNSUPPORTED);
	*ret_rule = rule;
	return (uint32_t)OP_RULE << OP_BASE_SHIFT;
}
