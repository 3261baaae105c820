/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A store through an unknown pointer is assumed to leave saved registers alone, as in a correct
 * program. A store to a known place is compared with the words that matter.
 */
#include "follow/follow_state_private.h"

static const struct value unknown = {.kind = VALUE_UNKNOWN};

void slots_drop(struct state *state, size_t i)
{
	state->slots[i] = state->slots[--state->slot_count];
	state->slots[state->slot_count] = (struct slot){0};
}

struct value slots_read(const struct state *state, struct value at)
{
	for (size_t i = 0; i < state->slot_count; i++) {
		if (value_same(state->slots[i].at, at))
			return state->slots[i].value;
	}
	return unknown;
}

/* Whether a store to [at, +bytes) may change the word. An aligned stack pointer is at most
 * alignment - 1 bytes below its value before. */
static bool may_touch(const struct state *state, struct value at, int64_t bytes, struct value word)
{
	int64_t low = at.offset, high = at.offset + bytes;
	int64_t word_low = word.offset, word_high = (int64_t)word.offset + WORD;
	int64_t from = state->anchor_from.offset, slack = state->anchor_align - 1;

	if (at.kind != word.kind) {
		if (state->anchor_from.kind != VALUE_CFA)
			return false;
		if (at.kind == VALUE_ANCHOR) {
			low += from - slack;
			high += from;
		} else {
			word_low += from - slack;
			word_high += from;
		}
	}
	return low < word_high && word_low < high;
}

void slots_write(struct state *state, struct value at, int64_t bytes, struct value value)
{
	if (at.kind != VALUE_CFA && at.kind != VALUE_ANCHOR)
		return;
	for (size_t i = state->slot_count; i-- > 0;) {
		if (may_touch(state, at, bytes, state->slots[i].at))
			slots_drop(state, i);
	}
	if (bytes == WORD && value.kind != VALUE_UNKNOWN && value.kind != VALUE_CONST &&
	    state->slot_count < MAX_SLOTS)
		state->slots[state->slot_count++] = (struct slot){.at = at, .value = value};
}

void slots_drop_below(struct state *state, int32_t keep)
{
	struct value sp = state->regs[REG_RSP];

	for (size_t i = state->slot_count; i-- > 0;) {
		if (state->slots[i].at.kind == sp.kind &&
		    state->slots[i].at.offset < sp.offset - keep)
			slots_drop(state, i);
	}
}

static bool holds_anchor(struct value value)
{
	return value.kind == VALUE_ANCHOR;
}

void slots_forget_anchor(struct state *state)
{
	for (size_t i = 0; i < GENERAL_REGS; i++) {
		if (holds_anchor(state->regs[i]))
			state->regs[i] = unknown;
	}
	for (size_t i = state->slot_count; i-- > 0;) {
		if (holds_anchor(state->slots[i].at) || holds_anchor(state->slots[i].value))
			slots_drop(state, i);
	}
	state->anchor_from = unknown;
	state->anchor_align = 0;
}
