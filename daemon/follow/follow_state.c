/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Operations on whole states: the state at an entry, and what two states have in common.
 */
#include "follow/follow_state_private.h"

static const struct value unknown = {.kind = VALUE_UNKNOWN};

void state_enter(struct state *state)
{
	*state = (struct state){0};
	state->regs[REG_RSP] = (struct value){.kind = VALUE_CFA, .offset = -WORD};
	state->regs[REG_RBP] = (struct value){.kind = VALUE_FP};
	slots_write(state, state->regs[REG_RSP], WORD, (struct value){.kind = VALUE_RA});
}

bool state_meet(struct state *state, const struct state *other)
{
	bool less = false;

	if (!value_same(state->anchor_from, other->anchor_from) ||
	    state->anchor_align != other->anchor_align) {
		less = state->anchor_align != 0;
		slots_forget_anchor(state);
	}
	for (size_t i = 0; i < GENERAL_REGS; i++) {
		if (state->regs[i].kind != VALUE_UNKNOWN &&
		    !value_same(state->regs[i], other->regs[i])) {
			state->regs[i] = unknown;
			less = true;
		}
	}
	for (size_t i = state->slot_count; i-- > 0;) {
		if (!value_same(slots_read(other, state->slots[i].at), state->slots[i].value)) {
			slots_drop(state, i);
			less = true;
		}
	}
	if (state->clone != CLONE_NONE && state->clone != other->clone) {
		state->clone = CLONE_NONE;
		less = true;
	}
	return less;
}

bool state_stack(const struct state *state, int32_t *ret_offset)
{
	if (state->regs[REG_RSP].kind != VALUE_CFA)
		return false;
	*ret_offset = state->regs[REG_RSP].offset;
	return true;
}

bool state_at_return(const struct state *state)
{
	return slots_read(state, state->regs[REG_RSP]).kind == VALUE_RA;
}

bool state_at_entry(const struct state *state)
{
	return state->regs[REG_RBP].kind == VALUE_FP && state_at_return(state);
}

bool state_has_left(const struct state *state)
{
	return state_at_entry(state) || (state->regs[REG_RBP].kind == VALUE_FP &&
	                                 state->regs[REG_RSP].kind == VALUE_UNKNOWN);
}

bool state_begins_another(const struct state *state, const struct insn *insn)
{
	return insn->kind == INSN_PUSH && insn->src == REG_RBP &&
	       state->regs[REG_RBP].kind == VALUE_CFA && state->regs[REG_RSP].kind != VALUE_CFA;
}
