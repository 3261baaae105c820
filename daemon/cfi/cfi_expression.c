/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stack machine. An unknown operation ends the evaluation, and so does a jump, so the work is
 * linear in the expression's length.
 */
#include "cfi/cfi_expression.h"
#include "cfi/cfi_value.h"
#include "elf/cursor.h"
#include "elf/dwarf.h"

enum {
	MAX_VALUES = 16,
	WORD = 8,
};

struct machine {
	struct cfi_value values[MAX_VALUES];
	size_t count;
};

static bool push(struct machine *machine, struct cfi_value value)
{
	if (machine->count == MAX_VALUES)
		return false;
	machine->values[machine->count++] = value;
	return true;
}

static bool push_const(struct machine *machine, uint64_t value)
{
	return push(machine, (struct cfi_value){.kind = VALUE_CONST, .offset = (int64_t)value});
}

static bool push_register(struct machine *machine, uint64_t number, int64_t offset)
{
	return number < BASE_CFA && push(machine, (struct cfi_value){.kind = VALUE_BASE,
	                                                             .base = (uint16_t)number,
	                                                             .offset = offset});
}

static bool binary(struct machine *machine, uint8_t op)
{
	if (machine->count < 2)
		return false;
	machine->count--;
	return cfi_value_combine(&machine->values[machine->count - 1], op,
	                         &machine->values[machine->count]);
}

static bool deref(struct machine *machine, uint8_t bytes)
{
	struct cfi_value *top = machine->count ? &machine->values[machine->count - 1] : NULL;

	if (!top || top->kind != VALUE_BASE || bytes != WORD)
		return false;
	top->kind = VALUE_DEREF;
	top->add = 0;
	return true;
}

static bool pick(struct machine *machine, uint8_t depth)
{
	return depth < machine->count && push(machine, machine->values[machine->count - 1 - depth]);
}

static bool swap(struct machine *machine)
{
	if (machine->count < 2)
		return false;
	struct cfi_value *top = &machine->values[machine->count - 1], old = *top;
	top[0] = top[-1];
	top[-1] = old;
	return true;
}

static bool step_constant(struct machine *machine, uint8_t op, struct cursor *cursor)
{
	switch (op) {
	case DW_OP_const1u:
		return push_const(machine, cursor_u8(cursor));
	case DW_OP_const1s:
		return push_const(machine, (uint64_t)(int8_t)cursor_u8(cursor));
	case DW_OP_const2u:
		return push_const(machine, cursor_u16(cursor));
	case DW_OP_const2s:
		return push_const(machine, (uint64_t)(int16_t)cursor_u16(cursor));
	case DW_OP_const4u:
		return push_const(machine, cursor_u32(cursor));
	case DW_OP_const4s:
		return push_const(machine, (uint64_t)(int32_t)cursor_u32(cursor));
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push_const(machine, cursor_u64(cursor));
	case DW_OP_constu:
		return push_const(machine, cursor_uleb(cursor));
	case DW_OP_consts:
		return push_const(machine, (uint64_t)cursor_sleb(cursor));
	default:
		return op >= DW_OP_lit0 && op <= DW_OP_lit31 &&
		       push_const(machine, op - DW_OP_lit0);
	}
}

static bool step(struct machine *machine, struct cursor *cursor)
{
	uint8_t op = cursor_u8(cursor);
	uint64_t number;

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return push_register(machine, op - DW_OP_breg0, cursor_sleb(cursor));
	switch (op) {
	case DW_OP_bregx:
		number = cursor_uleb(cursor);
		return push_register(machine, number, cursor_sleb(cursor));
	case DW_OP_nop:
		return true;
	case DW_OP_deref:
		return deref(machine, WORD);
	case DW_OP_deref_size:
		return deref(machine, cursor_u8(cursor));
	case DW_OP_plus_uconst:
		number = cursor_uleb(cursor);
		return machine->count &&
		       cfi_value_add(&machine->values[machine->count - 1], number);
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_and:
	case DW_OP_shl:
	case DW_OP_ge:
	case DW_OP_gt:
		return binary(machine, op);
	case DW_OP_dup:
		return pick(machine, 0);
	case DW_OP_over:
		return pick(machine, 1);
	case DW_OP_pick:
		return pick(machine, cursor_u8(cursor));
	case DW_OP_drop:
		return machine->count && machine->count--;
	case DW_OP_swap:
		return swap(machine);
	default:
		return step_constant(machine, op, cursor);
	}
}

static bool evaluate(struct machine *machine, const uint8_t *bytes, size_t len,
                     struct cfi_value *ret_value)
{
	struct cursor cursor = cursor_over(bytes, len, 0);

	while (cursor_left(&cursor)) {
		if (!step(machine, &cursor) || cursor.broken)
			return false;
	}
	if (!machine->count)
		return false;
	*ret_value = machine->values[machine->count - 1];
	return true;
}

struct cfa cfi_expression_cfa(const uint8_t *bytes, size_t len)
{
	struct machine machine = {.count = 0};
	struct cfi_value value;

	if (evaluate(&machine, bytes, len, &value)) {
		uint8_t reg = (uint8_t)value.base;

		if (value.kind == VALUE_BASE)
			return (struct cfa){CFA_REGISTER, reg, value.offset, 0};
		if (value.kind == VALUE_DEREF)
			return (struct cfa){CFA_DEREF, reg, value.offset, value.add};
		if (value.kind == VALUE_PLT)
			return (struct cfa){CFA_PLT, 0, value.offset, 0};
	}
	return (struct cfa){.kind = CFA_OTHER};
}

static struct save save_at(const struct cfi_value *value)
{
	if (value->base == BASE_CFA)
		return (struct save){SAVE_AT_CFA, 0, value->offset};
	return (struct save){SAVE_AT, (uint8_t)value->base, value->offset};
}

static bool evaluate_save(const uint8_t *bytes, size_t len, struct cfi_value *ret_value)
{
	struct machine machine = {.count = 0};

	push(&machine, (struct cfi_value){.kind = VALUE_BASE, .base = BASE_CFA});
	return evaluate(&machine, bytes, len, ret_value);
}

struct save cfi_expression_save(const uint8_t *bytes, size_t len)
{
	struct cfi_value value;

	if (evaluate_save(bytes, len, &value) && value.kind == VALUE_BASE)
		return save_at(&value);
	return (struct save){.kind = SAVE_OTHER};
}

struct save cfi_expression_value(const uint8_t *bytes, size_t len)
{
	struct cfi_value value;

	if (evaluate_save(bytes, len, &value)) {
		if (value.kind == VALUE_DEREF && !value.add)
			return save_at(&value);
		if (value.kind == VALUE_BASE && value.base != BASE_CFA && !value.offset)
			return (struct save){SAVE_IN, (uint8_t)value.base, 0};
	}
	return (struct save){.kind = SAVE_OTHER};
}
