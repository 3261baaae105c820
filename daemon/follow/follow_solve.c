/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A worklist over the joints. A state is kept only at joints, and is carried along the instructions
 * between them. Facts only ever get fewer, so the loop ends.
 *
 * The effect of calls is assumed, and the assumption is checked where possible: if a return
 * instruction is reached with something other than the return address on top of the stack, calls do
 * not do what the ABI says (or do not return), and the function is solved again with weaker
 * assumptions. A jump through a table may lead behind any call, so the state of such jumps is
 * merged there: behind a call that does not return, no other path exists.
 */
#include "follow/follow_code_private.h"

static void wait_for(struct follower *follower, uint32_t joint)
{
	if (follower->joints[joint].waiting)
		return;
	follower->joints[joint].waiting = true;
	follower->stack[follower->stack_count++] = joint;
}

static void arrive(struct follower *follower, uint32_t number, const struct state *state)
{
	struct joint *joint = &follower->joints[number];

	if (!joint->reached) {
		joint->reached = true;
		joint->state = *state;
		if (joint->behind_call && follower->jumped)
			state_meet(&joint->state, &follower->table_jumps);
	} else if (!state_meet(&joint->state, state)) {
		return;
	}
	wait_for(follower, number);
}

static void jump_through_table(struct follower *follower, const struct state *state)
{
	if (!follower->jumped)
		follower->table_jumps = *state;
	else if (!state_meet(&follower->table_jumps, state))
		return;
	follower->jumped = true;
	for (uint32_t i = 0; i < follower->joint_count; i++) {
		struct joint *joint = &follower->joints[i];

		if (joint->behind_call && joint->reached &&
		    state_meet(&joint->state, &follower->table_jumps))
			wait_for(follower, i);
	}
}

static void jump(struct follower *follower, struct insn *insn, const struct state *state)
{
	struct state there = *state;
	uint32_t target;

	if (follower_offset(follower, insn->target, &target)) {
		if (insn->kind == INSN_BRANCH)
			state_branch(&there, insn);
		uint32_t known = follower->at[target];
		/* Where exploring ended early, the target has no instruction or no joint. */
		if (known && follower->joint_of[known - 1] != NO_JOINT)
			arrive(follower, follower->joint_of[known - 1], &there);
		return;
	}
	insn->tail = state_at_entry(state);
	if (insn->kind == INSN_JUMP && !insn->target && (insn->table || !state_has_left(state)))
		jump_through_table(follower, state);
}

static void check_return(struct follower *follower, const struct state *state)
{
	int32_t offset;

	if (!state_stack(state, &offset))
		return;
	if (state_at_return(state))
		follower->returns++;
	else
		follower->contradicted = true;
}

bool follower_pass(const struct follower *follower, const struct insn *insn, struct state *state)
{
	bool call = insn->kind == INSN_CALL;

	if (!insn_goes_on(insn) || (call && follower->calls == CALLS_END) ||
	    (follower->calls == CALLS_RETURN && state_begins_another(state, insn)))
		return false;
	state_step(state, insn);
	if (call && follower->calls == CALLS_RETURN)
		state_forget_stack(state);
	return true;
}

static void run(struct follower *follower, const struct joint *from)
{
	struct state state = from->state;
	uint32_t number = from->insn;

	for (;;) {
		struct insn *insn = &follower->insns[number];

		if (!follower_step(follower))
			return;
		if (insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH)
			jump(follower, insn, &state);
		else if (insn->kind == INSN_RETURN)
			check_return(follower, &state);
		uint32_t next = insn->at + insn->len;
		if (!follower_pass(follower, insn, &state) || next >= follower->len ||
		    !follower->at[next])
			return;
		number = follower->at[next] - 1;
		if (follower->joint_of[number] != NO_JOINT) {
			arrive(follower, follower->joint_of[number], &state);
			return;
		}
	}
}

static void solve(struct follower *follower, enum calls calls)
{
	struct state entry;

	for (size_t i = 0; i < follower->joint_count; i++)
		follower->joints[i].reached = follower->joints[i].waiting = false;
	for (size_t i = 0; i < follower->insn_count; i++)
		follower->insns[i].tail = false;
	follower->calls = calls;
	follower->contradicted = follower->jumped = false;
	follower->returns = 0;
	state_enter(&entry);
	arrive(follower, 0, &entry);
	while (follower->stack_count && follower->steps_left) {
		struct joint *joint = &follower->joints[follower->stack[--follower->stack_count]];

		joint->waiting = false;
		run(follower, joint);
	}
	follower->stack_count = 0;
}

/* The ABI asks the first code of a process to mark the end of the stack by clearing the frame
 * pointer. */
static bool clears_frame_pointer(const struct follower *follower)
{
	for (size_t i = 0; i < follower->insn_count && i < 4; i++) {
		const struct insn *insn = &follower->insns[i];

		if (insn->kind == INSN_SET && insn->dst == REG_RBP)
			return insn->src == NO_REG && !insn->imm;
		if (!insn_goes_on(insn))
			return false;
	}
	return false;
}

bool follower_solve(struct follower *follower, enum follow_entry entry)
{
	if (!follower->insn_count || !follower->steps_left ||
	    (entry == FOLLOW_GUESSED && follower->undecodable))
		return false;
	follower->outermost = entry == FOLLOW_OUTERMOST;
	if (follower->outermost)
		return clears_frame_pointer(follower);
	solve(follower, CALLS_KEEP_STACK);
	if (follower->contradicted && entry == FOLLOW_CALLED)
		solve(follower, CALLS_RETURN);
	if (follower->contradicted && entry == FOLLOW_CALLED)
		solve(follower, CALLS_END);
	if (!follower->steps_left || follower->contradicted)
		return false;
	return entry == FOLLOW_CALLED || follower->returns;
}
