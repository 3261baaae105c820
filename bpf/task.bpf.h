/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the current task says of itself.
 */
#pragma once

#include "bpf/maps.bpf.h"

#include <bpf/bpf_core_read.h>

static __always_inline struct task_struct *task_current(void)
{
	return (struct task_struct *)bpf_get_current_task_btf();
}

/* Changes with each exec and each reuse of a pid: tally_key.image. Global: for each pointer that a
 * task is asked for directly the verifier goes through all types of the kernel four times, which
 * takes it 1 ms; so it is asked once for a program. */
u32 task_image(void);

/* When its process began, on CLOCK_BOOTTIME: as /proc/PID/stat has it, there in ticks of a clock.
 * Asked seldom, so it is read as any memory is. */
static __always_inline u64 task_began(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return BPF_CORE_READ(task, group_leader, start_boottime);
}

/* A child that has not been heard of yet has its parent's mappings, unless it has called exec: then
 * that has been counted, and its stack begins elsewhere. The parent's pid, or 0. */
static __always_inline u32 task_parent_alike(void)
{
	/* Asked seldom, so it is read as any memory is. */
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct task_struct *parent = BPF_CORE_READ(task, group_leader, real_parent);
	struct mm_struct *mm = BPF_CORE_READ(task, mm), *parent_mm = BPF_CORE_READ(parent, mm);

	if (!mm || !parent_mm ||
	    BPF_CORE_READ(mm, start_stack) != BPF_CORE_READ(parent_mm, start_stack) ||
	    BPF_CORE_READ(task, self_exec_id) != BPF_CORE_READ(parent, self_exec_id))
		return 0;
	return BPF_CORE_READ(parent, tgid);
}

/* What the thread-local variables of user space are found by. */
static __always_inline u64 task_thread_pointer(void)
{
#if defined(__TARGET_ARCH_x86)
	return task_current()->thread.fsbase;
#else
	return task_current()->thread.uw.tp_value;
#endif
}
