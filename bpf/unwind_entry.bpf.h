/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a walk of the current task's user stack begins, for each kind of program: the registers of
 * a program's own context when that is user space (a timer tick there, a uprobe), else those saved
 * when the kernel was entered (a tick in the kernel, a tracepoint). For words instead of an id,
 * fill scratch->regs in the same way and call unwind_stack(); stack_store() makes an id of them
 * later.
 */
#pragma once

#include "bpf/regs.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/unwind.bpf.h"

/* The stack's id, from registers of user space. */
static __always_inline u64 walk_user_of(u32 at, const volatile struct pt_regs *regs)
{
	struct scratch *scratch = scratch_get(at);

	if (!scratch)
		return STACK_LOST;
	regs_by_number(scratch->regs, regs);
	return unwind_user(at, REGS_COMPAT(regs));
}

/* The registers that user space had when it entered the kernel; NULL when it is not to be had. */
static __always_inline const struct pt_regs *regs_of_entry(struct scratch *scratch)
{
	struct task_struct *task = task_current();
	struct pt_regs *entry = &scratch->entry;

	/* A task that is ending gives its memory back. Its stack goes before, when it tells that it
	 * has ended: the thread that is started next may be on the same one by now. */
	if (task->flags & (PF_KTHREAD | PF_EXITING))
		return NULL;
	if (bpf_probe_read_kernel(entry, sizeof(*entry), (void *)bpf_task_pt_regs(task)))
		return NULL;
	/* Workers that the kernel makes inside a process never were in user space, and who has no
	 * memory yet was not. */
	if (REGS_PC(entry) == 0 || !REGS_USER(entry))
		return NULL;
	return entry;
}
