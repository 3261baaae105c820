/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * x86-64: from a frame to its caller by the operation of its row. The return address is always in
 * memory, almost always just below the CFA.
 */
#pragma once

/* There is no link register: a rule that says "the same" for the return address cannot be followed.
 * 1 is no valid address. */
static __always_inline u64 link_register(const struct scratch *scratch)
{
	return 1;
}

#include "bpf/walk/rule.bpf.h"

/* Goes to the caller by the saved rbp and return address at rbp, wherever these are. */
static __always_inline enum step step_chained(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	u64 at = walk->fp, fp, ra;

	if (at == 0)
		return STEP_COMPLETE;
	if (read_pair(scratch, at, &fp, &ra))
		return cut(walk, COUNTER_cut_unreadable);
	return walk_to_caller(walk, ra, at + 2 * sizeof(u64), fp);
}

static __always_inline enum step step_row(struct scratch *scratch, u64 base, u32 op)
{
	struct walk *walk = &scratch->walk;
	u64 cfa = base + ((op & OP_VALUE_MASK) >> X86_CFA_SHIFT) * sizeof(u64);
	u32 fp_words = op & X86_FP_MAX;
	u64 ra, fp = walk->fp;

	if ((op & X86_CHAINED) && !walk->leaf)
		return step_chained(scratch);
	if (cfa <= walk->sp)
		return cut(walk, COUNTER_cut_bad_frame);
	if (read_word(scratch, cfa - sizeof(u64), &ra))
		return cut(walk, COUNTER_cut_unreadable);
	if (fp_words && read_word(scratch, cfa - fp_words * sizeof(u64), &fp))
		return cut(walk, COUNTER_cut_unreadable);
	return walk_to_caller(walk, ra, cfa, fp);
}

static __always_inline enum step step_plt(struct scratch *scratch, u32 threshold)
{
	struct walk *walk = &scratch->walk;
	u64 at = walk->sp + ((walk->pc & 15) >= threshold ? sizeof(u64) : 0);
	u64 ra;

	if (read_word(scratch, at, &ra))
		return cut(walk, COUNTER_cut_unreadable);
	return walk_to_caller(walk, ra, at + sizeof(u64), walk->fp);
}

/* arch/x86/include/uapi/asm/sigcontext.h: at the restorer the stack pointer is at a ucontext, whose
 * registers begin at byte 40 and stand in this order. */
static const u8 signal_registers[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};
enum { SIGNAL_OFFSET = 40, SIGNAL_REGISTERS = sizeof(signal_registers) };

static __always_inline enum step step_signal(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	u64 *saved = scratch->saved;

	if (bpf_probe_read_user(saved, SIGNAL_REGISTERS * sizeof(u64),
	                        (void *)(walk->sp + SIGNAL_OFFSET)))
		return cut(walk, COUNTER_cut_unreadable);
#pragma clang loop unroll(full)
	for (u32 i = 0; i < SIGNAL_REGISTERS; i++)
		scratch->regs[signal_registers[i]] = saved[i];
	walk_from_registers(scratch, scratch->regs[REG_PC]);
	return STEP_CALLER;
}
