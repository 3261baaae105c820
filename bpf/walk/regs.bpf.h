/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A task's registers by their DWARF numbers, as unwind information names them: System V ABI for
 * x86-64 figure 3.36, DWARF for the Arm 64-bit architecture section 4.1.
 */
#pragma once

#include "bpf/maps.bpf.h"

/* A program's context may be read at constant offsets only, and the compiler must not merge such
 * reads with those of another structure: hence volatile, and only loops that the compiler
 * unrolls. */
#if defined(__TARGET_ARCH_x86)

enum { REG_FP = X86_REG_FP, REG_SP = X86_REG_SP, REG_PC = X86_REG_PC };

static __always_inline void regs_by_number(u64 *to, const volatile struct pt_regs *from)
{
	to[0] = from->ax;
	to[1] = from->dx;
	to[2] = from->cx;
	to[3] = from->bx;
	to[4] = from->si;
	to[5] = from->di;
	to[6] = from->bp;
	to[7] = from->sp;
	to[8] = from->r8;
	to[9] = from->r9;
	to[10] = from->r10;
	to[11] = from->r11;
	to[12] = from->r12;
	to[13] = from->r13;
	to[14] = from->r14;
	to[15] = from->r15;
	to[16] = from->ip;
}

#elif defined(__TARGET_ARCH_arm64)

enum { REG_FP = ARM64_REG_FP, REG_SP = ARM64_REG_SP, REG_PC = ARM64_REG_PC };

static __always_inline void regs_by_number(u64 *to, const volatile struct pt_regs *from)
{
#pragma clang loop unroll(full)
	for (u32 i = 0; i < REG_SP; i++)
		to[i] = from->regs[i];
	to[REG_SP] = from->sp;
	to[REG_PC] = from->pc;
}

#endif
