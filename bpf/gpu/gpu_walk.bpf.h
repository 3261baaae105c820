/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stack of the caller of a probed function. It begins with the caller, both at the entry of the
 * function and behind its return: the function itself is recorded elsewhere.
 */
#pragma once

#include "bpf/gpu/gpu_context.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

/* Where in the call the BPF program runs. */
struct gpu_place {
	const volatile struct pt_regs *regs;
	u64 frame;    /* of the call */
	u32 is_entry; /* else the program runs behind the return */
};

/* Stacks of a thread in a tenth of a second. */
enum { GPU_PACE_MANY = 30, GPU_PACE_FEW = 8, GPU_FRESH_MANY = 100 };

/* Sets the scratch's registers to the caller's; returns an address within its call, or 0. */
static __always_inline u64 caller_registers(u32 lane, const struct gpu_place *place)
{
	struct scratch *scratch = scratch_get(lane);

	if (!scratch)
		return 0;
	regs_by_number(scratch->regs, place->regs);
	if (place->is_entry) {
#if defined(__TARGET_ARCH_x86)
		scratch->regs[REG_PC] = return_address(place->frame);
#else
		scratch->regs[REG_PC] = scratch->regs[30];
#endif
		scratch->regs[REG_SP] = place->frame;
	}
	return scratch->regs[REG_PC] ? scratch->regs[REG_PC] - 1 : 0;
}

/* Called when a call is walked; returns the number of calls until the next one is. */
static __always_inline u32 calls_to_next(struct gpu_thread *thread, u64 now)
{
	pace_next_of(&thread->pace, now, 1, GPU_PACE_MANY, GPU_PACE_FEW);
	return thread->pace.due;
}

/* Whether the first call of a new row is walked. These have a separate limit, or a program that
 * always does something new would always be walked. */
static __always_inline int is_fresh_walked(struct gpu_thread *thread, u64 now)
{
	if (now - thread->fresh_ns >= PACE_WINDOW_NS) {
		thread->fresh_ns = now;
		thread->fresh = 0;
	}
	return thread->fresh++ < GPU_FRESH_MANY;
}
