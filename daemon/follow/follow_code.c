/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds instructions along every straight run and every jump with a known target. A place where
 * runs meet is a joint.
 */
#include "follow/follow_code_private.h"

#include <errno.h>

struct follower *follower_new(void)
{
	_cleanup_(follower_freep) struct follower *follower = calloc(1, sizeof(*follower));

	if (!follower || !decoder_init(&follower->decoder))
		return NULL;
	follower->at = calloc(MAX_FOLLOW_BYTES, sizeof(*follower->at));
	if (!follower->at)
		return NULL;
	follower->steps_left = MAX_FOLLOW_STEPS;
	return TAKE_PTR(follower);
}

void follower_free(struct follower *follower)
{
	if (!follower)
		return;
	free(follower->at);
	free(follower->insns);
	free(follower->joint_of);
	free(follower->joints);
	free(follower->stack);
	free(follower);
}

static int grow(void *array, size_t count, size_t *capacity, size_t bytes)
{
	void **items = array;

	if (count < *capacity)
		return 0;
	size_t wanted = *capacity ? *capacity * 2 : 256;
	void *grown = reallocarray(*items, wanted, bytes);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*capacity = wanted;
	return 0;
}

static int push(struct follower *follower, uint32_t value)
{
	int err = grow(&follower->stack, follower->stack_count, &follower->stack_capacity,
	               sizeof(*follower->stack));

	if (!err)
		follower->stack[follower->stack_count++] = value;
	return err;
}

static void forget(struct follower *follower)
{
	for (size_t i = 0; i < follower->insn_count; i++)
		follower->at[follower->insns[i].at] = 0;
	follower->insn_count = follower->joint_count = follower->stack_count = 0;
	follower->has_table_jumps = follower->undecodable = false;
	follower->end = 0;
}

static int make_joint(struct follower *follower, uint32_t insn)
{
	if (follower->joint_of[insn] != NO_JOINT)
		return 0;
	int err = grow(&follower->joints, follower->joint_count, &follower->joint_capacity,
	               sizeof(*follower->joints));
	if (err)
		return err;
	follower->joints[follower->joint_count] = (struct joint){.insn = insn};
	follower->joint_of[insn] = (uint32_t)follower->joint_count++;
	return 0;
}

static int add_insn(struct follower *follower, const struct insn *insn)
{
	size_t capacity = follower->insn_capacity;
	int err = grow(&follower->insns, follower->insn_count, &capacity, sizeof(*follower->insns));

	if (!err)
		err = grow(&follower->joint_of, follower->insn_count, &follower->insn_capacity,
		           sizeof(*follower->joint_of));
	if (err)
		return err;
	follower->joint_of[follower->insn_count] = NO_JOINT;
	follower->insns[follower->insn_count++] = *insn;
	follower->at[insn->at] = (uint32_t)follower->insn_count;
	if (insn->at + insn->len > follower->end)
		follower->end = insn->at + insn->len;
	return 0;
}

/* Zero bytes decode as an instruction, but occur only in data. */
static bool is_zeros(const struct follower *follower, uint32_t offset)
{
	return !follower->code[offset] && offset + 1 < follower->len && !follower->code[offset + 1];
}

/* Explores one straight run from `offset` up to its end, or up to where it meets another run. */
static int explore_run(struct follower *follower, uint32_t offset)
{
	bool first = true;
	struct insn insn;
	uint32_t target;

	for (; offset < follower->len; offset += insn.len, first = false) {
		uint32_t known = follower->at[offset];
		if (known)
			return make_joint(follower, known - 1);
		if (!follower_step(follower))
			return 0;
		if (is_zeros(follower, offset) ||
		    !insn_decode(&follower->decoder, follower->code + offset,
		                 follower->len - offset, follower->address + offset, &insn)) {
			follower->undecodable = true;
			return 0;
		}
		insn.at = offset;
		int err = add_insn(follower, &insn);
		if (!err && first)
			err = make_joint(follower, (uint32_t)follower->insn_count - 1);
		if (!err && (insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH) &&
		    follower_offset(follower, insn.target, &target))
			err = push(follower, target);
		if (err)
			return err;
		if (insn.kind == INSN_JUMP && !insn.target)
			follower->has_table_jumps = true;
		if (!insn_goes_on(&insn))
			return 0;
	}
	return 0;
}

/* Makes a joint behind each call, because a jump through a table may lead there. */
static int split_behind_calls(struct follower *follower)
{
	for (size_t i = 0; i < follower->insn_count; i++) {
		const struct insn *insn = &follower->insns[i];
		uint32_t next = insn->at + insn->len;

		if (insn->kind != INSN_CALL || next >= follower->len || !follower->at[next])
			continue;
		uint32_t behind = follower->at[next] - 1;
		int err = make_joint(follower, behind);
		if (err)
			return err;
		follower->joints[follower->joint_of[behind]].behind_call = true;
	}
	return 0;
}

int follower_explore(struct follower *follower, const uint8_t *code, size_t len, uint64_t address,
                     enum follow_entry entry)
{
	forget(follower);
	follower->code = code;
	follower->len = len < MAX_FOLLOW_BYTES ? len : MAX_FOLLOW_BYTES;
	follower->address = address;

	int err = push(follower, 0);
	while (!err && follower->stack_count && follower->steps_left &&
	       !(follower->undecodable && entry == FOLLOW_GUESSED))
		err = explore_run(follower, follower->stack[--follower->stack_count]);
	if (!err && follower->has_table_jumps)
		err = split_behind_calls(follower);
	/* Make room for every joint once, so that follower_solve() cannot run out of memory. */
	follower->stack_count = 0;
	while (!err && follower->stack_capacity < follower->joint_count)
		err = grow(&follower->stack, follower->stack_capacity, &follower->stack_capacity,
		           sizeof(*follower->stack));
	return err;
}

int follower_each_reference(const struct follower *follower, follow_reference_fn *fn, void *ctx)
{
	int result = 0;

	for (size_t i = 0; !result && i < follower->insn_count; i++) {
		const struct insn *insn = &follower->insns[i];

		if (!insn->target)
			continue;
		if (insn->kind == INSN_CALL || insn->tail)
			result = fn(insn->target, REFERENCE_CALL, ctx);
		else if (insn->kind == INSN_PLAIN || insn->kind == INSN_SET)
			result = fn(insn->target, REFERENCE_ADDRESS, ctx);
	}
	return result;
}
