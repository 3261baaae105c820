/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is known before an instruction runs: which registers and which words of the stack hold
 * something that leads to the caller. A state holds facts only, never guesses: an instruction
 * removes some facts and adds others, and where two paths meet, only the facts that both have
 * remain.
 */
#pragma once

#include "cfi/frame_row.h"
#include "follow/follow_insn.h"

enum { MAX_SLOTS = 8 };

enum value_kind {
	VALUE_UNKNOWN,
	VALUE_CFA,    /* the CFA + offset */
	VALUE_ANCHOR, /* the last aligned stack pointer + offset */
	VALUE_FP,     /* the caller's frame pointer */
	VALUE_RA,     /* the return address */
	VALUE_CONST,  /* offset */
};

struct value {
	int32_t offset; /* 0 where the kind has none */
	uint8_t kind;
};

/* A word of the stack whose value is known. */
struct slot {
	struct value at; /* VALUE_CFA or VALUE_ANCHOR */
	struct value value;
};

/* The steps by which a new thread's path parts from its parent's: a clone system call, a test of
 * its result, and the frame pointer cleared where the result is 0. */
enum clone_step { CLONE_NONE, CLONE_CALLED, CLONE_TESTED, CLONE_CHILD, CLONE_OUTERMOST };

struct state {
	struct value regs[GENERAL_REGS];
	struct slot slots[MAX_SLOTS];
	struct value anchor_from; /* the stack pointer's value before it was aligned */
	int32_t anchor_align;
	uint8_t slot_count;
	uint8_t clone;
};

/* The state at the first instruction of a function that was called. */
void state_enter(struct state *state);
/* Keeps only the facts that both states have. Returns whether *state lost any. */
bool state_meet(struct state *state, const struct state *other);
/* Carries the state over one instruction to the next one. */
void state_step(struct state *state, const struct insn *insn);
/* Forgets the stack pointer. */
void state_forget_stack(struct state *state);
/* Whether the instruction begins a frame although this function's frame pointer is set up. Such an
 * instruction belongs to another function. */
bool state_begins_another(const struct state *state, const struct insn *insn);
/* Whether the instruction is the first one of a new thread, which is the outermost frame from here
 * on. */
bool state_begins_thread(const struct state *state, const struct insn *insn);
/* Carries the state from a branch to its target; state_step() carries it past the branch. */
void state_branch(struct state *state, const struct insn *insn);

/* The stack pointer's distance from the CFA. False: unknown. */
bool state_stack(const struct state *state, int32_t *ret_offset);
/* Whether the return address is on top of the stack. */
bool state_at_return(const struct state *state);
/* Whether, in addition, the frame pointer is the caller's again, so that nothing of this function
 * is left: the target of a jump is then the entry of another function. */
bool state_at_entry(const struct state *state);
/* The same, or the stack pointer is unknown. A function does not go on in this state by a jump to
 * one of several places. */
bool state_has_left(const struct state *state);
/* Fills in everything except start and end. False: the way to the caller is unknown. */
bool state_row(const struct state *state, struct frame_row *ret_row);
