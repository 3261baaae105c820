/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arithmetic on symbolic values. Only operations that lead to one of the forms are supported.
 */
#include "cfi/cfi_value.h"
#include "elf/dwarf.h"

enum {
	X86_SP = 7,
	X86_PC = 16,
	PC_LOW_MASK = 15, /* a PLT entry is 16 bytes, aligned */
	PLT_SHIFT = 3,
	WORD = 8,
};

/* Offsets wrap around, like the addresses they are part of. */
static int64_t wrapped_sum(int64_t left, uint64_t right)
{
	return (int64_t)((uint64_t)left + right);
}

bool cfi_value_add(struct cfi_value *value, uint64_t amount)
{
	switch (value->kind) {
	case VALUE_CONST:
	case VALUE_BASE:
		value->offset = wrapped_sum(value->offset, amount);
		return true;
	case VALUE_DEREF:
		value->add = wrapped_sum(value->add, amount);
		return true;
	default:
		return false;
	}
}

static bool plus(struct cfi_value *left, const struct cfi_value *right)
{
	if (right->kind == VALUE_CONST)
		return cfi_value_add(left, (uint64_t)right->offset);
	if (left->kind == VALUE_CONST) {
		uint64_t amount = (uint64_t)left->offset;

		*left = *right;
		return cfi_value_add(left, amount);
	}
	const struct cfi_value *word = left->kind == VALUE_WORD ? left : right;
	const struct cfi_value *base = left->kind == VALUE_WORD ? right : left;
	if (word->kind != VALUE_WORD || base->kind != VALUE_BASE || base->base != X86_SP ||
	    base->offset != WORD)
		return false;
	*left = (struct cfi_value){.kind = VALUE_PLT, .offset = word->offset};
	return true;
}

static bool and (struct cfi_value * left, const struct cfi_value *right)
{
	const struct cfi_value *mask = left->kind == VALUE_CONST ? left : right;
	const struct cfi_value *other = left->kind == VALUE_CONST ? right : left;

	if (mask->kind != VALUE_CONST)
		return false;
	if (other->kind == VALUE_CONST) {
		left->offset &= right->offset;
		return true;
	}
	if (other->kind != VALUE_BASE || other->base != X86_PC || other->offset ||
	    mask->offset != PC_LOW_MASK)
		return false;
	*left = (struct cfi_value){.kind = VALUE_PC_LOW};
	return true;
}

static bool shift_left(struct cfi_value *left, const struct cfi_value *right)
{
	if (right->kind != VALUE_CONST || (uint64_t)right->offset > 63)
		return false;
	if (left->kind == VALUE_CONST) {
		left->offset = (int64_t)((uint64_t)left->offset << right->offset);
		return true;
	}
	if (left->kind != VALUE_PAST || right->offset != PLT_SHIFT)
		return false;
	left->kind = VALUE_WORD;
	return true;
}

bool cfi_value_combine(struct cfi_value *left, uint8_t op, const struct cfi_value *right)
{
	switch (op) {
	case DW_OP_plus:
		return plus(left, right);
	case DW_OP_minus:
		return right->kind == VALUE_CONST && cfi_value_add(left, -(uint64_t)right->offset);
	case DW_OP_and:
		return and(left, right);
	case DW_OP_shl:
		return shift_left(left, right);
	case DW_OP_ge:
	case DW_OP_gt:
		if (left->kind != VALUE_PC_LOW || right->kind != VALUE_CONST || right->offset < 0 ||
		    right->offset > PC_LOW_MASK)
			return false;
		left->offset = right->offset + (op == DW_OP_gt);
		left->kind = VALUE_PAST;
		return true;
	default:
		return false;
	}
}
