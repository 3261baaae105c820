/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Carries facts over one instruction.
 */
#include "follow/follow_state_private.h"

enum {
	/* Real frames are smaller; with this bound no sum of two offsets overflows. */
	MAX_OFFSET = 1 << 29,
	SYS_CLONE = 56,
	SYS_CLONE3 = 435,
	/* Registers that a call may change: rax rdx rcx rsi rdi r8-r11. */
	CALL_CLOBBERS = 0x0f37,
};

static const struct value unknown = {.kind = VALUE_UNKNOWN};

static struct value plus(struct value value, int32_t offset)
{
	int64_t sum = (int64_t)value.offset + offset;

	if ((value.kind != VALUE_CFA && value.kind != VALUE_ANCHOR) || sum > MAX_OFFSET ||
	    sum < -MAX_OFFSET) {
		return offset || value.kind == VALUE_CONST ? unknown : value;
	}
	value.offset = (int32_t)sum;
	return value;
}

/* When the stack pointer's base changes, the words below the old stack pointer are forgotten, the
 * red zone included. */
static void set(struct state *state, uint8_t reg, struct value value)
{
	if (reg == REG_RSP && value.kind != state->regs[reg].kind)
		slots_drop_below(state, 0);
	state->regs[reg] = value;
	if (reg == REG_RSP)
		slots_drop_below(state, RED_ZONE);
}

static void clobber(struct state *state, unsigned regs)
{
	for (uint8_t i = 0; i < GENERAL_REGS; i++) {
		if (regs & 1U << i)
			set(state, i, unknown);
	}
}

static void align(struct state *state, const struct insn *insn)
{
	struct value from = state->regs[insn->dst];

	slots_drop_below(state, 0);
	slots_forget_anchor(state);
	if (from.kind != VALUE_CFA || insn->dst != REG_RSP) {
		clobber(state, 1U << insn->dst);
		return;
	}
	state->anchor_from = from;
	state->anchor_align = -insn->imm;
	state->regs[insn->dst] = (struct value){.kind = VALUE_ANCHOR};
}

static void push(struct state *state, struct value value, int32_t bytes)
{
	set(state, REG_RSP, plus(state->regs[REG_RSP], -bytes));
	slots_write(state, state->regs[REG_RSP], bytes, value);
}

static void pop(struct state *state, uint8_t reg, int32_t bytes)
{
	struct value value = bytes == WORD ? slots_read(state, state->regs[REG_RSP]) : unknown;

	set(state, REG_RSP, plus(state->regs[REG_RSP], bytes));
	if (reg != NO_REG)
		set(state, reg, value);
}

static void leave(struct state *state)
{
	set(state, REG_RSP, state->regs[REG_RBP]);
	pop(state, REG_RBP, WORD);
}

static void enter(struct state *state, const struct insn *insn)
{
	push(state, state->regs[REG_RBP], WORD);
	state->regs[REG_RBP] = state->regs[REG_RSP];
	set(state, REG_RSP, plus(state->regs[REG_RSP], -insn->imm));
}

/* The callee's frame overwrites what is below the stack pointer. */
static void call(struct state *state)
{
	slots_drop_below(state, 0);
	clobber(state, CALL_CLOBBERS);
}

bool state_begins_thread(const struct state *state, const struct insn *insn)
{
	return state->clone == CLONE_CHILD && insn->kind == INSN_SET && insn->dst == REG_RBP &&
	       insn->src == NO_REG && !insn->imm;
}

static void step_clone(struct state *state, const struct insn *insn)
{
	struct value rax = state->regs[REG_RAX];
	bool clone =
		rax.kind == VALUE_CONST && (rax.offset == SYS_CLONE || rax.offset == SYS_CLONE3);

	if (insn->kind == INSN_SYSCALL && clone)
		state->clone = CLONE_CALLED;
	else if (insn->kind == INSN_TEST && insn->dst == REG_RAX && state->clone == CLONE_CALLED)
		state->clone = CLONE_TESTED;
	else if (insn->kind == INSN_BRANCH && state->clone == CLONE_TESTED)
		state->clone = insn->when == WHEN_NOT_ZERO ? CLONE_CHILD : CLONE_NONE;
	else if (state_begins_thread(state, insn))
		state->clone = CLONE_OUTERMOST;
	else
		state->clone = CLONE_NONE;
}

static void step_kind(struct state *state, const struct insn *insn)
{
	struct value *regs = state->regs;
	struct value place = insn->base == NO_REG ? unknown : plus(regs[insn->base], insn->disp);
	struct value held;

	switch (insn->kind) {
	case INSN_SET:
		held = insn->src == NO_REG
		               ? (struct value){.kind = VALUE_CONST, .offset = insn->imm}
		               : plus(regs[insn->src], insn->imm);
		set(state, insn->dst, held);
		break;
	case INSN_SET_LOW:
		if (regs[insn->dst].kind == VALUE_CONST)
			regs[insn->dst].offset = (regs[insn->dst].offset & ~0xff) | insn->imm;
		break;
	case INSN_ALIGN:
		align(state, insn);
		break;
	case INSN_LOAD:
		set(state, insn->dst, slots_read(state, place));
		break;
	case INSN_STORE:
		slots_write(state, place, WORD, regs[insn->src]);
		break;
	case INSN_EXCHANGE:
		held = regs[insn->dst];
		set(state, insn->dst, regs[insn->src]);
		set(state, insn->src, held);
		break;
	case INSN_PUSH:
		push(state, insn->src == NO_REG ? unknown : regs[insn->src], insn->imm);
		break;
	case INSN_POP:
		pop(state, insn->dst, insn->imm);
		clobber(state, insn->writes);
		break;
	case INSN_ENTER:
		enter(state, insn);
		break;
	case INSN_LEAVE:
		leave(state);
		break;
	case INSN_CALL:
		call(state);
		break;
	default:
		slots_write(state, place, insn->stored, unknown);
		clobber(state, insn->writes);
		if (insn->kind == INSN_SYSCALL)
			slots_drop_below(state, 0);
	}
}

void state_step(struct state *state, const struct insn *insn)
{
	if (state->clone == CLONE_OUTERMOST)
		return;
	bool keeps = insn->kind == INSN_PLAIN && !insn->writes;
	uint8_t before = state->clone;

	step_clone(state, insn);
	if (keeps && before == CLONE_CHILD)
		state->clone = before;
	if (state->clone == CLONE_OUTERMOST)
		*state = (struct state){.clone = CLONE_OUTERMOST};
	else
		step_kind(state, insn);
}

void state_branch(struct state *state, const struct insn *insn)
{
	bool child = state->clone == CLONE_TESTED && insn->when == WHEN_ZERO;

	state_step(state, insn);
	if (state->clone != CLONE_OUTERMOST)
		state->clone = child ? CLONE_CHILD : CLONE_NONE;
}

void state_forget_stack(struct state *state)
{
	clobber(state, 1U << REG_RSP);
}
