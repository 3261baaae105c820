/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a walk of the current task's user stack begins, for each kind of program: at the registers
 * of the program's own context if those are user-space registers (a timer tick there, a uprobe),
 * else at those saved when the kernel was entered (a tick in the kernel, a tracepoint). To get
 * words instead of an id, fill scratch->regs in the same way and call unwind_stack(); stack_store()
 * can make an id of them later.
 */
#pragma once

#include "bpf/task.bpf.h"
#include "bpf/walk/glue.bpf.h"
#include "bpf/walk/regs.bpf.h"
#include "bpf/walk/unwind.bpf.h"

/* The stack's id, from user-space registers. */
static __always_inline u64 walk_user_of(u32 at, const volatile struct pt_regs *regs)
{
	struct scratch *scratch = scratch_get(at);

	if (!scratch)
		return STACK_LOST;
	regs_by_number(scratch->regs, regs);
	return unwind_user(at, REGS_COMPAT(regs));
}

/* Puts the kernel stack's innermost frames, at most so many, into the scratch; returns how many. */
static __always_inline u32 kernel_frames(void *ctx, u32 at, struct scratch *scratch, u64 skips,
                                         u32 most)
{
	long bytes = bpf_get_stack(ctx, scratch->frames, most * sizeof(u64), skips);

	if (bytes > 0)
		return (u32)bytes / sizeof(u64);
	count(at, COUNTER_kernel_stack_failed, 1);
	return 0;
}

/* The kernel stack's id. */
static __always_inline u64 walk_kernel(void *ctx, u32 at)
{
	struct scratch *scratch = scratch_get(at);
	u32 len;

	if (!scratch)
		return STACK_LOST;
	len = kernel_frames(ctx, at, scratch, 0, MAX_KERNEL_FRAMES);
	return len ? stack_store(at, len) : STACK_NONE;
}

/* The same at a tracepoint, at most so many frames, without the frames of the program, of which
 * there are `inner` beside that of its entry, and without the `outer` next ones. */
static __always_inline u64 walk_tracepoint(void *ctx, u32 at, u32 inner, u32 outer, u32 most)
{
	struct scratch *scratch = scratch_get(at);
	u32 len, drops;

	if (!scratch)
		return STACK_LOST;
	len = kernel_frames(ctx, at, scratch, PROGRAM_FRAMES + inner, most);
	drops = len > GLUE_FRAMES ? glue_frames(scratch->frames) + outer : 0;
	if (len <= drops)
		return STACK_NONE;
	len -= drops;
	if (drops &&
	    bpf_probe_read_kernel(scratch->frames, (len & (SCRATCH_FRAMES / 2 - 1)) * sizeof(u64),
	                          &scratch->frames[drops]))
		return STACK_LOST;
	return stack_store(at, len);
}

/* The address of the futex in whose call a task is, by the registers of its entry; 0: it is in no
 * such call. */
static __always_inline u64 futex_of(const struct pt_regs *entry)
{
	return REGS_SYSCALL_NUMBER(entry) == SYSCALL_FUTEX ? REGS_ARGUMENT_1(entry) : 0;
}

/* The registers that user space had when it entered the kernel; NULL where they are not
 * available. */
static __always_inline const struct pt_regs *regs_of_entry(struct scratch *scratch)
{
	struct task_struct *task = task_current();
	struct pt_regs *entry = &scratch->entry;

	/* A task that is exiting gives its memory back. Its stack goes first, when the task reports
	 * its exit: a thread that is started next may already use the same stack. */
	if (task->flags & (PF_KTHREAD | PF_EXITING))
		return NULL;
	if (bpf_probe_read_kernel(entry, sizeof(*entry), (void *)bpf_task_pt_regs(task)))
		return NULL;
	/* Workers that the kernel creates inside a process never were in user space; nor was a task
	 * that has no memory yet. */
	if (REGS_PC(entry) == 0 || !REGS_USER(entry))
		return NULL;
	return entry;
}

/* Whether the current task does what a tracepoint is about, and not an interrupt, which has nothing
 * to do with the task. Interrupts, and on most kernels softirqs, have stacks of their own, and the
 * context of the program is on the stack in use; but on x86 an interrupt of user space uses the
 * task's. */
static __always_inline int is_of_task(void *ctx, struct scratch *scratch)
{
	struct task_struct *task = task_current();
	const struct pt_regs *entry = NULL;
	u64 sp;

	/* The verifier knows ctx as a pointer, with which it lets nothing be computed. */
	if (bpf_probe_read_kernel(&sp, sizeof(sp), &ctx) || sp < (u64)task->stack ||
	    sp >= (u64)bpf_task_pt_regs(task))
		return 0;
#if defined(__TARGET_ARCH_x86)
	entry = regs_of_entry(scratch);
#endif
	return !entry || REGS_SYSCALL(entry);
}
