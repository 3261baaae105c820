/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is known of the current thread: in which context and on which device it works, by which
 * function of the runtime it called the driver, and which of its calls are walked.
 */
#pragma once

#include "bpf/gpu/gpu_known.bpf.h"
#include "bpf/gpu/gpu_read.bpf.h"
#include "bpf/task.bpf.h"

#include <bpf/bpf_core_read.h>

static __always_inline void thread_begin(struct gpu_thread *thread, u32 exec)
{
	thread->frame = 0;
	thread->chunk_frame = 0;
	thread->tag_frame = 0;
	thread->device = GPU_DEVICE_UNKNOWN;
	thread->context = 0;
	thread->pushed = 0;
	thread->pace = pace_new(1);
	thread->events = pace_new(1);
	thread->events.due = 0;
	thread->fresh = 0;
	thread->flip.flip = (u64)FLIP_NOT_SEEN;
	thread->image = task_image();
	thread->tid = (u32)bpf_get_current_pid_tgid();
	thread->exec = exec;
}

/* The state of the current thread. NULL if there is no memory for it, or if this program
 * interrupted another thread on this CPU that was creating its state (before Linux 6.2: also one
 * that was looking its state up). A launch or a copy then still counts, without a device and a
 * stack. Fields that do not change until the next exec are read once. */
static __always_inline struct gpu_thread *thread_get(u64 flags)
{
	struct task_struct *task = task_current();
	struct gpu_thread *thread = bpf_task_storage_get(&gpu_threads, task, NULL, flags);
	u32 exec = (u32)task->self_exec_id + 1; /* not 0, which a new one has */

	if (!thread) {
		GPU_ADD(threads_lost);
		return NULL;
	}
	if (thread->exec != exec)
		thread_begin(thread, exec);
	return thread;
}

/* The compiler must not know what the depth is compared with, or it leaves out the mask that the
 * verifier needs. */
static __always_inline u32 context_slot(const struct gpu_thread *thread)
{
	u32 slot = thread->pushed;

	barrier_var(slot);
	return slot & (GPU_CONTEXT_STACK - 1);
}

static __always_inline void context_set(struct gpu_thread *thread, u64 context)
{
	thread->context = context;
	thread->device = GPU_DEVICE_UNKNOWN;
	if (!context)
		return;
	thread->device = known_of(GPU_KNOWN_CONTEXT, context, GPU_DEVICE_UNKNOWN);
	if (thread->device == GPU_DEVICE_UNKNOWN)
		GPU_ADD(contexts_unknown);
}

static __always_inline void context_push(struct gpu_thread *thread, u64 context)
{
	if (thread->pushed < GPU_CONTEXT_STACK)
		thread->below[context_slot(thread)] = thread->context;
	thread->pushed++;
	context_set(thread, context);
}

static __always_inline void context_pop(struct gpu_thread *thread)
{
	u64 below = 0;

	if (thread->pushed) {
		thread->pushed--;
		if (thread->pushed < GPU_CONTEXT_STACK)
			below = thread->below[context_slot(thread)];
	}
	context_set(thread, below);
}

/* The return address of the call with this frame, while the thread is in it; 0 where it is in a
 * register, as it is not known when that is saved. */
static __always_inline u64 return_address(u64 frame)
{
	u64 address = 0;

#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_user(&address, sizeof(address), (void *)(frame - sizeof(u64)));
#endif
	return address;
}

/* Whether a call may still return. Until it does, the stack holds the address of the kernel's
 * trampoline (bpf/walk/return_probe.bpf.h) instead of its return address. Where a longjmp has left
 * the call, something else is there sooner or later. Unreadable memory proves nothing; on arm64
 * it is not known where a return address is saved. Reads with bpf_probe_read_kernel(): see
 * task_image(). */
static __always_inline int is_awaited(u64 frame)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct xol_area *area;
	u64 there;

	if (!bpf_core_field_exists(((struct xol_area *)0)->vaddr))
		return 1;
	area = BPF_CORE_READ(task, mm, uprobes_state.xol_area);
	there = return_address(frame);
	return !area || !there || there == BPF_CORE_READ(area, vaddr);
#else
	return 1;
#endif
}

/* Whether a call with this frame is made from the function of the runtime that the thread entered
 * last: it is deeper on the stack, and that function has not returned since. */
static __always_inline int is_tagged(const struct gpu_thread *thread, u64 frame)
{
	return thread->tag_frame && frame < thread->tag_frame && thread->tag_return &&
	       return_address(thread->tag_frame) == thread->tag_return;
}

static __always_inline void tag(struct gpu_thread *thread, const volatile struct pt_regs *regs,
                                union gpu_site_cookie site, u64 frame)
{
	/* Functions of the runtime call each other; the program called the first one. */
	if (is_tagged(thread, frame))
		return;
	thread->tag_frame = frame;
	thread->tag_return = return_address(frame);
	thread->tag_call = site.call;
	thread->tag_direction =
		site.a == GPU_NO_ARGUMENT ? GPU_COPY_DEFAULT : argument_any(regs, frame, site.a);
}
