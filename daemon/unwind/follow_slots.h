/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The words of the stack whose value is known, as part of a state.
 */
#pragma once

#include "unwind/follow_state.h"

enum { WORD = 8, RED_ZONE = 128 };

static inline bool value_same(struct value a, struct value b)
{
	return a.kind == b.kind && a.offset == b.offset;
}

struct value slots_read(const struct state *state, struct value at);
/* A store of `bytes` at a place: what it may touch is forgotten, a word that matters is kept. */
void slots_write(struct state *state, struct value at, int64_t bytes, struct value value);
void slots_drop(struct state *state, size_t i);
/* What is below the stack pointer by more than `keep` belongs to nobody. */
void slots_drop_below(struct state *state, int32_t keep);
/* Everything that was counted from the aligned stack pointer. */
void slots_forget_anchor(struct state *state);
