/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes a row from the known facts. A walker knows the stack pointer and the frame pointer in every
 * frame, but other registers only in the innermost one, so those come last. The frame pointer comes
 * first: it does not change where the stack pointer moves, even where a callee takes its arguments
 * off the stack, as V8's functions do.
 */
#include "follow/follow_state.h"

static const struct value the_fp = {.kind = VALUE_FP};
static const struct value the_ra = {.kind = VALUE_RA};

static bool is(struct value value, struct value wanted)
{
	return value.kind == wanted.kind && value.offset == wanted.offset;
}

static bool cfa_in(const struct state *state, uint8_t reg, struct cfa *ret_cfa)
{
	struct value value = state->regs[reg];

	if (value.kind != VALUE_CFA)
		return false;
	*ret_cfa = (struct cfa){.kind = CFA_REGISTER, .reg = reg, .offset = -value.offset};
	return true;
}

/* Finds a word that `reg` leads to and that holds the CFA, or the CFA plus an offset. */
static bool cfa_behind(const struct state *state, uint8_t reg, struct cfa *ret_cfa)
{
	for (size_t i = 0; i < state->slot_count; i++) {
		const struct slot *slot = &state->slots[i];

		if (slot->value.kind != VALUE_CFA || slot->at.kind != state->regs[reg].kind)
			continue;
		*ret_cfa = (struct cfa){
			.kind = CFA_DEREF,
			.reg = reg,
			.offset = (int64_t)slot->at.offset - state->regs[reg].offset,
			.add = -slot->value.offset,
		};
		return true;
	}
	return false;
}

static bool find_cfa(const struct state *state, struct cfa *ret_cfa)
{
	if (cfa_in(state, REG_RBP, ret_cfa) || cfa_in(state, REG_RSP, ret_cfa) ||
	    cfa_behind(state, REG_RSP, ret_cfa) || cfa_behind(state, REG_RBP, ret_cfa))
		return true;
	for (uint8_t reg = 0; reg < GENERAL_REGS; reg++) {
		if (cfa_in(state, reg, ret_cfa))
			return true;
	}
	return false;
}

static bool in_register(const struct state *state, struct value wanted, struct save *ret_save)
{
	for (uint8_t reg = 0; reg < GENERAL_REGS; reg++) {
		if (is(state->regs[reg], wanted)) {
			*ret_save = (struct save){.kind = SAVE_IN, .reg = reg};
			return true;
		}
	}
	return false;
}

static bool in_slot(const struct state *state, struct value wanted, struct save *ret_save)
{
	struct value sp = state->regs[REG_RSP];

	for (size_t i = 0; i < state->slot_count; i++) {
		const struct slot *slot = &state->slots[i];

		if (!is(slot->value, wanted))
			continue;
		if (slot->at.kind == VALUE_CFA) {
			*ret_save = (struct save){.kind = SAVE_AT_CFA, .offset = slot->at.offset};
			return true;
		}
		if (sp.kind == VALUE_ANCHOR) {
			*ret_save = (struct save){
				.kind = SAVE_AT,
				.reg = REG_RSP,
				.offset = (int64_t)slot->at.offset - sp.offset,
			};
			return true;
		}
	}
	return false;
}

static bool find_fp(const struct state *state, struct save *ret_save)
{
	if (is(state->regs[REG_RBP], the_fp)) {
		*ret_save = (struct save){.kind = SAVE_SAME};
		return true;
	}
	return in_slot(state, the_fp, ret_save) || in_register(state, the_fp, ret_save);
}

/* A return address that was taken off the stack may be overwritten there at any time, so a register
 * is preferred then. */
static bool find_ra(const struct state *state, struct save *ret_save)
{
	struct value sp = state->regs[REG_RSP];

	if (sp.kind == VALUE_CFA && sp.offset >= 0 && in_register(state, the_ra, ret_save))
		return true;
	return in_slot(state, the_ra, ret_save) || in_register(state, the_ra, ret_save);
}

bool state_row(const struct state *state, struct frame_row *ret_row)
{
	if (state->clone == CLONE_OUTERMOST) {
		ret_row->cfa = (struct cfa){.kind = CFA_REGISTER, .reg = REG_RSP, .offset = 8};
		ret_row->fp = (struct save){.kind = SAVE_SAME};
		ret_row->ra = (struct save){.kind = SAVE_UNDEFINED};
		return true;
	}
	return find_cfa(state, &ret_row->cfa) && find_fp(state, &ret_row->fp) &&
	       find_ra(state, &ret_row->ra);
}
