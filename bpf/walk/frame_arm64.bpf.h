/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * arm64: from a frame to its caller by the operation of its row. A leaf may still have its return
 * address in x30; a caller has saved it.
 */
#pragma once

static __always_inline u64 link_register(const struct scratch *scratch)
{
	return scratch->walk.leaf ? scratch->regs[ARM64_REG_LR] : 1;
}

#include "bpf/walk/rule.bpf.h"

static __always_inline enum step step_row(struct scratch *scratch, u64 base, u32 op)
{
	struct walk *walk = &scratch->walk;
	u64 cfa = base + ((op & OP_VALUE_MASK) >> ARM64_CFA_SHIFT) * 16;
	u32 ra_words = op >> ARM64_RA_SHIFT & ARM64_RA_MAX;
	u64 at = cfa - ra_words * sizeof(u64);
	u64 ra = link_register(scratch), fp = walk->fp;

	/* A leaf may have no frame at all; a caller has its return address in its frame. */
	if (cfa < walk->sp || (cfa == walk->sp && !walk->leaf))
		return cut(walk, COUNTER_cut_bad_frame);
	if (ra_words && read_word(scratch, at, &ra))
		return cut(walk, COUNTER_cut_unreadable);
	if (!ra_words && !walk->leaf)
		return cut(walk, COUNTER_cut_register);
	if ((op & ARM64_PAIR) && read_word(scratch, at - sizeof(u64), &fp))
		return cut(walk, COUNTER_cut_unreadable);
	return walk_to_caller(walk, ra, cfa, fp);
}

/* arch/arm64/include/uapi/asm/sigcontext.h: at the restorer the stack pointer is at a siginfo and a
 * ucontext, whose x0 to x30, sp and pc begin at byte 312. */
enum { SIGNAL_OFFSET = 312, SIGNAL_REGISTERS = MAX_REGS };

static __always_inline enum step step_signal(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;

	if (bpf_probe_read_user(scratch->regs, SIGNAL_REGISTERS * sizeof(u64),
	                        (void *)(walk->sp + SIGNAL_OFFSET)))
		return cut(walk, COUNTER_cut_unreadable);
	walk_from_registers(scratch, scratch->regs[REG_PC]);
	return STEP_CALLER;
}

/* No arm64 table has this operation: PLT entries there leave the stack alone. */
static __always_inline enum step step_plt(struct scratch *scratch, u32 threshold)
{
	return cut(&scratch->walk, COUNTER_cut_unsupported);
}
