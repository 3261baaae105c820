/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns registers into the id of a stack.
 */
#include "bpf/walk/unwind_entry.bpf.h"

/* For a 32-bit program only the pc is recorded. */
static __always_inline u64 walk_compat(struct scratch *scratch, u32 at, u64 pc)
{
	scratch->gil = 0;
	scratch->frames[0] = pc;
	scratch->frames[1] = COUNTER_cut_compat;
	count(at, COUNTER_frames, 1);
	count(at, COUNTER_cut_compat, 1);
	return stack_store(at, 2);
}

/* In a system call, pc is behind the instruction. */
static __always_inline u64 walk(struct scratch *scratch, u32 at, u32 compat, u32 in_syscall)
{
	u64 pc = scratch->regs[REG_PC] - (in_syscall != 0);

	return compat ? walk_compat(scratch, at, pc) : stack_store(at, unwind_stack(at, pc));
}

__noinline u64 unwind_user(u32 at, u32 compat)
{
	struct scratch *scratch = scratch_get(at);

	if (!scratch)
		return STACK_LOST;
	scratch->futex = 0;
	return walk(scratch, at, compat, 0);
}

__noinline u64 unwind_entry(u32 at)
{
	struct scratch *scratch = scratch_get(at);
	const struct pt_regs *entry;

	if (!scratch)
		return STACK_LOST;
	entry = regs_of_entry(scratch);
	if (!entry)
		return STACK_NONE;
	regs_by_number(scratch->regs, entry);
	scratch->futex = futex_of(entry);
	return walk(scratch, at, REGS_COMPAT(entry), REGS_SYSCALL(entry));
}
