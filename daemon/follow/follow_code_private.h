/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct follower: shared by the three steps, which find instructions (follow_code.c), solve
 * (follow_solve.c) and report rows (follow_tell.c).
 */
#pragma once

#include "follow/follow_code.h"
#include "follow/follow_state.h"

enum { NO_JOINT = UINT32_MAX };

/* What is assumed about calls: first the rules of the ABI, then less if that leads to a
 * contradiction. */
enum calls {
	CALLS_KEEP_STACK,
	CALLS_RETURN,
	CALLS_END,
};

struct joint {
	struct state state;
	uint32_t insn;
	bool reached, waiting, behind_call;
};

struct follower {
	ZydisDecoder decoder;
	const uint8_t *code;
	uint64_t address;
	size_t len;
	size_t steps_left;

	uint32_t *at; /* by byte of the code: 1 + number of the instruction there, or 0 */
	struct insn *insns;
	uint32_t *joint_of; /* for each instruction */
	size_t insn_count, insn_capacity;
	struct joint *joints;
	size_t joint_count, joint_capacity;
	uint32_t *stack; /* of offsets while exploring, of joints while solving */
	size_t stack_count, stack_capacity;
	uint32_t end; /* offset behind the last instruction */

	struct state table_jumps; /* what all jumps through tables have in common */
	bool has_table_jumps, jumped, undecodable, contradicted, outermost;
	enum calls calls;
	size_t returns;
};

/* Uses one step. False: the steps are used up. */
static inline bool follower_step(struct follower *follower)
{
	if (!follower->steps_left)
		return false;
	follower->steps_left--;
	return true;
}

/* Finds the offset of a target in this function's code. False: the target is outside. */
static inline bool follower_offset(const struct follower *follower, uint64_t target,
                                   uint32_t *ret_offset)
{
	if (!target || target < follower->address || target - follower->address >= follower->len)
		return false;
	*ret_offset = (uint32_t)(target - follower->address);
	return true;
}

/* Carries the state over an instruction to the next one. False: control does not go on there. */
bool follower_pass(const struct follower *follower, const struct insn *insn, struct state *state);
