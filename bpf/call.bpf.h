/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A call of a function as its probes see it: its arguments, its result, and which call it is. A
 * call is identified by its frame: the value of the stack pointer after the return. System V ABI
 * for x86-64, section 3.2.3; Procedure Call Standard for the Arm 64-bit Architecture, section 6.
 */
#pragma once

#include "bpf/kernel.bpf.h"

#include <bpf/bpf_helpers.h>

#if defined(__TARGET_ARCH_x86)
enum { REGISTER_ARGUMENTS = 6 };
#define REGS_RESULT(from) ((from)->ax)
#define ARGUMENTS(from)                                                                \
	{                                                                              \
		(from)->di, (from)->si, (from)->dx, (from)->cx, (from)->r8, (from)->r9 \
	}

/* `pushed`: bytes by which the stack pointer is below its value at the function's first byte. */
static __always_inline u64 frame_at_entry(const volatile struct pt_regs *regs, u8 pushed)
{
	return regs->sp + pushed + sizeof(u64);
}

/* The return address of a call, by its frame; 0 where the stack cannot be read. */
static __always_inline u64 caller_at_entry(const volatile struct pt_regs *regs, u64 frame)
{
	u64 caller = 0;

	bpf_probe_read_user(&caller, sizeof(caller), (void *)(frame - sizeof(u64)));
	return caller;
}

/* `at_return`: the probe is at a return instruction, and not behind it. */
static __always_inline u64 frame_at_end(const volatile struct pt_regs *regs, u32 at_return)
{
	return at_return ? regs->sp + sizeof(u64) : regs->sp;
}
#else
enum { REGISTER_ARGUMENTS = 8 };
#define REGS_RESULT(from) ((from)->regs[0])
#define ARGUMENTS(from)                                                                    \
	{                                                                                  \
		(from)->regs[0], (from)->regs[1], (from)->regs[2], (from)->regs[3],        \
			(from)->regs[4], (from)->regs[5], (from)->regs[6], (from)->regs[7] \
	}

static __always_inline u64 frame_at_entry(const volatile struct pt_regs *regs, u8 pushed)
{
	return regs->sp + pushed;
}

/* Valid as long as the prologue has called no function. */
static __always_inline u64 caller_at_entry(const volatile struct pt_regs *regs, u64 frame)
{
	return regs->regs[30];
}

static __always_inline u64 frame_at_end(const volatile struct pt_regs *regs, u32 at_return)
{
	return regs->sp;
}
#endif

/* 0 for an argument that is in no register. Each argument is read from the context before one is
 * chosen: a context is read at constant offsets only, and the compiler must not choose the offset
 * instead. */
static __always_inline u64 argument(const volatile struct pt_regs *regs, u8 number)
{
	u64 from[REGISTER_ARGUMENTS] = ARGUMENTS(regs), value = 0;

#pragma clang loop unroll(full)
	for (u8 i = 0; i < REGISTER_ARGUMENTS; i++) {
		barrier_var(from[i]);
		if (number == i)
			value = from[i];
	}
	return value;
}
