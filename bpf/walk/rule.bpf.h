/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules of a table, which say what a row has no room for. The same on every architecture.
 */
#pragma once

#include "bpf/walk/lookup.bpf.h"

/* Only the stack pointer and the frame pointer are known in every frame; the others in a leaf
 * only. */
static __always_inline int read_register(const struct scratch *scratch, u32 number, u64 *ret_value)
{
	const struct walk *walk = &scratch->walk;

	if (number == REG_SP)
		*ret_value = walk->sp;
	else if (number == REG_FP)
		*ret_value = walk->fp;
	else if (walk->leaf && number < MAX_REGS)
		*ret_value = scratch->regs[number];
	else
		return -1;
	return 0;
}

struct location {
	u32 where, number;
	s64 offset;
};

/* The caller's value of a register whose value in this frame is `own`. */
static __always_inline enum step read_location(struct scratch *scratch, const struct location *at,
                                               u64 cfa, u64 own, u64 *ret_value)
{
	u64 from = cfa;

	if (at->where == RULE_SAME) {
		*ret_value = own;
		return STEP_CALLER;
	}
	if (at->where != RULE_AT_CFA && read_register(scratch, at->number, &from))
		return cut(&scratch->walk, COUNTER_cut_register);
	if (at->where == RULE_IN_REGISTER) {
		*ret_value = from;
		return STEP_CALLER;
	}
	if (read_word(scratch, from + at->offset, ret_value))
		return cut(&scratch->walk, COUNTER_cut_unreadable);
	return STEP_CALLER;
}

static __always_inline enum step step_rule(struct scratch *scratch, u32 number)
{
	struct walk *walk = &scratch->walk;
	u32 *chunk = chunk_of(walk->base);
	const struct unwind_rule *rule =
		chunk ? (void *)word_at(chunk, walk->base, number * RULE_WORDS) : NULL;
	struct location fp_at, ra_at;
	u64 cfa, fp, ra;

	if (!rule)
		return cut(walk, COUNTER_cut_unsupported);
	fp_at = (struct location){rule->fp, rule->fp_register, rule->fp_offset};
	ra_at = (struct location){rule->ra, rule->ra_register, rule->ra_offset};
	if (read_register(scratch, rule->cfa_register, &cfa))
		return cut(walk, COUNTER_cut_register);
	cfa += rule->cfa_offset;
	if (rule->cfa == RULE_CFA_DEREF) {
		if (read_word(scratch, cfa, &cfa))
			return cut(walk, COUNTER_cut_unreadable);
		cfa += rule->cfa_add;
	}
	/* Checked before memory that the CFA points to is read and trusted. Only a leaf may have no
	 * frame. */
	if (cfa < walk->sp || (cfa == walk->sp && !walk->leaf))
		return cut(walk, COUNTER_cut_bad_frame);
	if (read_location(scratch, &fp_at, cfa, walk->fp, &fp) != STEP_CALLER ||
	    read_location(scratch, &ra_at, cfa, link_register(scratch), &ra) != STEP_CALLER)
		return STEP_CUT;
	return walk_to_caller(walk, ra, cfa, fp);
}
