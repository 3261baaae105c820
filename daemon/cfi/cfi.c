/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The interpreter of call frame instructions.
 */
#include "cfi/cfi.h"
#include "cfi/cfi_decode.h"
#include "cfi/cfi_expression.h"
#include "elf/dwarf.h"

#include <errno.h>

enum {
	MAX_REMEMBERED = 8,           /* compilers nest 2 deep */
	MAX_ROW_REGISTER = UINT8_MAX, /* a row stores the register number in one byte */
};

struct run {
	const struct cfi_common *common;
	struct cursor cursor;
	struct cfi_rules rules;
	struct cfi_rules remembered[MAX_REMEMBERED];
	size_t depth;
	uint64_t location;
};

static int64_t factored(const struct run *run, uint64_t value)
{
	return (int64_t)(value * (uint64_t)run->common->data_align);
}

static void set_cfa(struct cfi_rules *rules, uint64_t reg, int64_t offset)
{
	rules->cfa = (struct cfa){.kind = reg > MAX_ROW_REGISTER ? CFA_OTHER : CFA_REGISTER,
	                          .reg = (uint8_t)reg,
	                          .offset = offset};
}

static void set_cfa_offset(struct cfi_rules *rules, int64_t offset)
{
	if (rules->cfa.kind == CFA_REGISTER)
		rules->cfa.offset = offset;
	else
		rules->cfa = (struct cfa){.kind = CFA_OTHER};
}

/* False: the instruction does not concern the CFA. */
static bool change_cfa(struct run *run, const struct cfi_instruction *in)
{
	struct cfi_rules *rules = &run->rules;

	switch (in->op) {
	case DW_CFA_def_cfa:
		set_cfa(rules, in->first, (int64_t)in->second);
		return true;
	case DW_CFA_def_cfa_sf:
		set_cfa(rules, in->first, factored(run, in->second));
		return true;
	case DW_CFA_def_cfa_register:
		if (rules->cfa.kind == CFA_REGISTER)
			set_cfa(rules, in->first, rules->cfa.offset);
		return true;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(rules, (int64_t)in->first);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_offset(rules, factored(run, in->first));
		return true;
	case DW_CFA_def_cfa_expression:
		rules->cfa = cfi_expression_cfa(in->block, in->block_len);
		return true;
	default:
		return false;
	}
}

static struct save saved_in(uint64_t reg)
{
	if (reg > MAX_ROW_REGISTER)
		return (struct save){.kind = SAVE_OTHER};
	return (struct save){.kind = SAVE_IN, .reg = (uint8_t)reg};
}

static void change_save(struct run *run, const struct cfi_instruction *in, struct save *save,
                        const struct save *initial)
{
	switch (in->op) {
	case DW_CFA_offset:
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
		*save = (struct save){SAVE_AT_CFA, 0, factored(run, in->second)};
		break;
	case DW_CFA_GNU_negative_offset_extended:
		*save = (struct save){SAVE_AT_CFA, 0, factored(run, -in->second)};
		break;
	case DW_CFA_restore:
	case DW_CFA_restore_extended:
		*save = *initial;
		break;
	case DW_CFA_undefined:
		*save = (struct save){.kind = SAVE_UNDEFINED};
		break;
	case DW_CFA_same_value:
		*save = (struct save){.kind = SAVE_SAME};
		break;
	case DW_CFA_register:
		*save = saved_in(in->second);
		break;
	case DW_CFA_expression:
		*save = cfi_expression_save(in->block, in->block_len);
		break;
	case DW_CFA_val_expression:
		*save = cfi_expression_value(in->block, in->block_len);
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		*save = (struct save){.kind = SAVE_OTHER};
		break;
	default:
		break;
	}
}

static uint64_t sp_register(const struct cfi_common *common)
{
	const uint64_t x86_fp = 6, x86_sp = 7, arm64_sp = 31;

	return common->fp_register == x86_fp ? x86_sp : arm64_sp;
}

/* Applies an instruction that neither moves the location nor concerns the CFA. False: it cannot be
 * applied. */
static bool change_register(struct run *run, const struct cfi_instruction *in)
{
	struct cfi_rules *rules = &run->rules;

	switch (in->op) {
	case DW_CFA_remember_state:
		if (run->depth == MAX_REMEMBERED)
			return false;
		run->remembered[run->depth++] = *rules;
		return true;
	case DW_CFA_restore_state:
		if (!run->depth)
			return false;
		*rules = run->remembered[--run->depth];
		return true;
	case DW_CFA_nop:
	case DW_CFA_GNU_args_size:
	case DW_CFA_AARCH64_negate_ra_state:
	case DW_CFA_AARCH64_negate_ra_state_with_pc:
		return true;
	default:
		break;
	}
	/* All other instructions have a register as their first operand. */
	if (in->first == run->common->ra_register)
		change_save(run, in, &rules->ra, &run->common->initial.ra);
	else if (in->first == run->common->fp_register)
		change_save(run, in, &rules->fp, &run->common->initial.fp);
	else if (in->first == sp_register(run->common))
		change_save(run, in, &rules->sp, &run->common->initial.sp);
	return true;
}

/* Returns where the next row begins. False: the instruction does not move the location. */
static bool next_location(const struct run *run, const struct cfi_instruction *in,
                          uint64_t *ret_next)
{
	uint64_t delta;

	switch (in->op) {
	case DW_CFA_set_loc:
		*ret_next = in->first;
		return true;
	case DW_CFA_advance_loc:
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
	case DW_CFA_MIPS_advance_loc8:
		if (__builtin_mul_overflow(in->first, run->common->code_align, &delta) ||
		    __builtin_add_overflow(run->location, delta, ret_next))
			*ret_next = UINT64_MAX;
		return true;
	default:
		return false;
	}
}

static bool same_save(const struct save *left, const struct save *right)
{
	return left->kind == right->kind && left->reg == right->reg &&
	       left->offset == right->offset;
}

bool cfi_same_rules(const struct frame_row *left, const struct frame_row *right)
{
	return left->cfa.kind == right->cfa.kind && left->cfa.reg == right->cfa.reg &&
	       left->cfa.offset == right->cfa.offset && left->cfa.add == right->cfa.add &&
	       same_save(&left->fp, &right->fp) && same_save(&left->ra, &right->ra) &&
	       left->chained == right->chained && left->signal_frame == right->signal_frame;
}

/* Holds back a row until a different one follows, so that equal neighbours are merged. */
struct held {
	struct frame_row row; /* empty range: no row is held */
	frame_row_fn *fn;
	void *ctx;
};

static int held_flush(struct held *held)
{
	return held->row.start < held->row.end ? held->fn(&held->row, held->ctx) : 0;
}

/* Expresses the rule relative to the register that the CFA is computed from. */
static struct save relative_to_base(struct save save, const struct cfa *cfa)
{
	int64_t offset;

	if (save.kind != SAVE_AT_CFA)
		return save;
	if (cfa->kind != CFA_REGISTER || __builtin_add_overflow(cfa->offset, save.offset, &offset))
		return (struct save){.kind = SAVE_OTHER};
	return (struct save){SAVE_AT, cfa->reg, offset};
}

/* longjmp() keeps the caller's stack pointer in a register, and its CFA points to the jump buffer.
 * A row's CFA is the caller's stack pointer, so the rules are rewritten. */
static void use_stack_pointer(struct frame_row *row, const struct save *sp)
{
	if (sp->kind != SAVE_IN)
		return;
	row->fp = relative_to_base(row->fp, &row->cfa);
	row->ra = relative_to_base(row->ra, &row->cfa);
	row->cfa = (struct cfa){.kind = CFA_REGISTER, .reg = sp->reg};
}

static int held_add(struct held *held, const struct run *run, uint64_t end)
{
	struct frame_row row = {
		.start = run->location,
		.end = end,
		.cfa = run->rules.cfa,
		.fp = run->rules.fp,
		.ra = run->rules.ra,
		.signal_frame = run->common->signal_frame,
	};

	use_stack_pointer(&row, &run->rules.sp);
	if (held->row.end == row.start && cfi_same_rules(&held->row, &row)) {
		held->row.end = row.end;
		return 0;
	}
	int result = held_flush(held);
	held->row = row;
	return result;
}

static bool decode(struct run *run, struct cfi_instruction *ret_instruction)
{
	return cfi_decode(&run->cursor, run->common->pointer_encoding, run->common->address_bytes,
	                  ret_instruction);
}

int cfi_begin(struct cfi_common *common, const struct cfi_code *code)
{
	struct run run = {
		.common = common,
		.cursor = cursor_over(code->bytes, code->len, code->address),
		.rules = {.cfa = {.kind = CFA_OTHER},
	                  .fp = {.kind = SAVE_SAME},
	                  .ra = {.kind = SAVE_SAME},
	                  .sp = {.kind = SAVE_SAME}},
	};
	struct cfi_instruction in;
	uint64_t next;

	common->initial = run.rules;
	while (cursor_left(&run.cursor)) {
		if (!decode(&run, &in) || next_location(&run, &in, &next) ||
		    (!change_cfa(&run, &in) && !change_register(&run, &in)))
			return -EBADMSG;
	}
	common->initial = run.rules;
	return 0;
}

int cfi_each_row(const struct cfi_common *common, const struct cfi_code *code, uint64_t start,
                 uint64_t end, frame_row_fn *fn, void *ctx)
{
	struct run run = {.common = common,
	                  .cursor = cursor_over(code->bytes, code->len, code->address),
	                  .rules = common->initial,
	                  .location = start};
	struct held held = {.fn = fn, .ctx = ctx};
	struct cfi_instruction in;
	uint64_t next;
	int result = 0, broken = 0;

	while (result == 0 && cursor_left(&run.cursor) && run.location < end) {
		bool good = decode(&run, &in);

		if (good && next_location(&run, &in, &next)) {
			if (next < run.location) {
				good = false;
			} else if (next > run.location) {
				result = held_add(&held, &run, next < end ? next : end);
				run.location = next;
			}
		} else if (good) {
			good = change_cfa(&run, &in) || change_register(&run, &in);
		}
		if (!good) {
			broken = -EBADMSG;
			break;
		}
	}
	if (result == 0 && !broken && run.location < end)
		result = held_add(&held, &run, end);
	if (result == 0)
		result = held_flush(&held);
	return result ? result : broken;
}
