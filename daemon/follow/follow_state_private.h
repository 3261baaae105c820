/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct state: the words of the stack whose values are known.
 */
#pragma once

#include "follow/follow_state.h"

enum { WORD = 8, RED_ZONE = 128 };

static inline bool value_same(struct value a, struct value b)
{
	return a.kind == b.kind && a.offset == b.offset;
}

struct value slots_read(const struct state *state, struct value at);
/* Records a store of `bytes` at a place: forgets the words that it may touch, and keeps the stored
 * value if it matters. */
void slots_write(struct state *state, struct value at, int64_t bytes, struct value value);
void slots_drop(struct state *state, size_t i);
/* Forgets the words that are more than `keep` bytes below the stack pointer, which no function
 * owns. */
void slots_drop_below(struct state *state, int32_t keep);
/* Forgets everything that is relative to the aligned stack pointer. */
void slots_forget_anchor(struct state *state);
