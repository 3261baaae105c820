/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Properties of the current task.
 */
#pragma once

#include "bpf/maps.bpf.h"

#include <bpf/bpf_core_read.h>

static __always_inline struct task_struct *task_current(void)
{
	return (struct task_struct *)bpf_get_current_task_btf();
}

/* By the first thread of a process. */
static __always_inline u32 image_of(struct task_struct *leader)
{
	return (u32)(leader->start_boottime >> 10) ^ (u32)leader->self_exec_id << 16;
}

/* The value of tally_key.image: changes with each exec and each reuse of a pid. A global function:
 * for each pointer that is read directly from a task, the verifier goes through all kernel types
 * four times, which takes 1 ms; this way it does so once for a program. */
u32 task_image(void);

/* When the current process began, on CLOCK_BOOTTIME; /proc/PID/stat has the same time in clock
 * ticks. Called seldom, so it reads with bpf_probe_read_kernel() and not directly. */
static __always_inline u64 task_began(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return BPF_CORE_READ(task, group_leader, start_boottime);
}

/* A child that the daemon has not heard of yet has its parent's mappings, unless it has called
 * exec: then self_exec_id counts the exec, and the stack begins elsewhere. Returns the parent's
 * pid, or 0. */
static __always_inline u32 task_parent_alike(void)
{
	/* Called seldom, so it reads with bpf_probe_read_kernel() and not directly. */
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct task_struct *parent = BPF_CORE_READ(task, group_leader, real_parent);
	struct mm_struct *mm = BPF_CORE_READ(task, mm), *parent_mm = BPF_CORE_READ(parent, mm);

	if (!mm || !parent_mm ||
	    BPF_CORE_READ(mm, start_stack) != BPF_CORE_READ(parent_mm, start_stack) ||
	    BPF_CORE_READ(task, self_exec_id) != BPF_CORE_READ(parent, self_exec_id))
		return 0;
	return BPF_CORE_READ(parent, tgid);
}

/* The register by which user space finds its thread-local variables. */
static __always_inline u64 task_thread_pointer(void)
{
#if defined(__TARGET_ARCH_x86)
	return task_current()->thread.fsbase;
#else
	return task_current()->thread.uw.tp_value;
#endif
}
