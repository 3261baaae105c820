/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports the rows of a function whose facts are settled.
 */
#include "follow/follow_code_private.h"

struct teller {
	struct frame_row row; /* not reported yet; empty when start == end */
	frame_row_fn *fn;
	void *ctx;
};

static int flush(struct teller *teller)
{
	struct frame_row row = teller->row;

	teller->row.start = teller->row.end;
	return row.start < row.end ? teller->fn(&row, teller->ctx) : 0;
}

static bool same_rule(const struct frame_row *a, const struct frame_row *b)
{
	return a->cfa.kind == b->cfa.kind && a->cfa.reg == b->cfa.reg &&
	       a->cfa.offset == b->cfa.offset && a->cfa.add == b->cfa.add &&
	       a->fp.kind == b->fp.kind && a->fp.reg == b->fp.reg && a->fp.offset == b->fp.offset &&
	       a->ra.kind == b->ra.kind && a->ra.reg == b->ra.reg && a->ra.offset == b->ra.offset;
}

static int tell(struct teller *teller, const struct frame_row *row)
{
	if (teller->row.start < teller->row.end && teller->row.end == row->start &&
	    same_rule(&teller->row, row)) {
		teller->row.end = row->end;
		return 0;
	}
	int result = flush(teller);
	teller->row = *row;
	return result;
}

/* Instructions overlap where a jump skips a prefix. Each one covers its bytes up to the start of
 * the next one. */
static uint32_t row_end(const struct follower *follower, const struct insn *insn)
{
	uint32_t end = insn->at + 1;

	while (end < insn->at + insn->len && !follower->at[end])
		end++;
	return end;
}

/* Whether anything is known before the instruction. `previous` is the instruction at the next lower
 * address; on entry *state is the state before it. */
static bool carry(const struct follower *follower, const struct insn *previous,
                  const struct insn *insn, bool known, struct state *state)
{
	uint32_t joint = follower->joint_of[insn - follower->insns];

	if (joint != NO_JOINT) {
		*state = follower->joints[joint].state;
		return follower->joints[joint].reached;
	}
	return known && previous && previous->at + previous->len == insn->at &&
	       follower_pass(follower, previous, state);
}

int follower_each_row(const struct follower *follower, frame_row_fn *fn, void *ctx)
{
	struct teller teller = {.fn = fn, .ctx = ctx};
	const struct insn *previous = NULL;
	const struct state thread = {.clone = CLONE_OUTERMOST};
	struct state state = thread;
	bool known = false;
	int result = 0;

	for (uint32_t at = 0; !result && at < follower->end; at++) {
		struct frame_row row = {.start = follower->address + at};

		if (!follower->at[at])
			continue;
		const struct insn *insn = &follower->insns[follower->at[at] - 1];
		known = follower->outermost || carry(follower, previous, insn, known, &state);
		previous = insn;
		if (!known || !(state_begins_thread(&state, insn) ? state_row(&thread, &row)
		                                                  : state_row(&state, &row)))
			continue;
		row.end = follower->address + row_end(follower, insn);
		result = tell(&teller, &row);
	}
	return result ? result : flush(&teller);
}
