/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Addresses that uprobes have hidden. An instruction that a probe has replaced is stepped as a copy
 * in [uprobes], and a tick that comes then finds the copy's address.
 *
 * Return addresses may not be on the stack: while a function runs whose return a probe waits for,
 * the kernel has put the address of its trampoline, the first bytes of [uprobes], in the place of
 * the return address, and keeps the true one in a list of the task: kernel/events/uprobes.c,
 * prepare_uretprobe().
 *
 * The list begins with the innermost call and goes up the stack, as a walk does, so it is gone
 * through once. Tail calls have several entries of one place, each with the true address. Calls
 * that a longjmp has ended may still be in it: an entry is believed for its own place on the stack
 * only, and only where the trampoline is found there. A list that changes under our hands (a tick
 * in the middle of a return, before Linux 6.11) may end too soon; then the walk is cut.
 */
#pragma once

#include "bpf/task.bpf.h"
#include "bpf/walk.bpf.h"

#include <bpf/bpf_core_read.h>

enum {
	MAX_INSTRUCTION_BYTES = 16,
	MAX_PENDING_RETURNS = 64, /* kernel/events/uprobes.c: MAX_URETPROBE_DEPTH */
	/* arch/x86/kernel/uprobes.c, uretprobe_trampoline_entry: it is not longer, and pushes three
	 * registers. It is one instruction on arm64 and before Linux 6.11. */
	TRAMPOLINE_BYTES = 64,
	TRAMPOLINE_PUSHES = 3 * sizeof(u64),
};

/* The kernel knows a call by the stack pointer at its beginning; how far that is below the one
 * after its return. And how far the latter may be above what a walk takes for it: arm64's frame
 * records may be anywhere in their frames. */
#if defined(__TARGET_ARCH_x86)
enum { BELOW_CALLER = sizeof(u64), AT_MOST_ABOVE = 0 };
#else
enum { BELOW_CALLER = 0, AT_MOST_ABOVE = MAX_FRAME_BYTES };
#endif

/* Read as any memory is: see task_image(). */
static __always_inline void see_through_uprobes(struct walk *walk)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct uprobe_task *utask;

	if (!bpf_core_field_exists(task->utask) ||
	    !bpf_core_field_exists(((struct xol_area *)0)->vaddr))
		return;
	utask = BPF_CORE_READ(task, utask);
	if (!utask)
		return;
	if (BPF_CORE_READ(utask, active_uprobe) &&
	    walk->pc - BPF_CORE_READ(utask, xol_vaddr) <= MAX_INSTRUCTION_BYTES)
		walk->pc += BPF_CORE_READ(utask, vaddr) - BPF_CORE_READ(utask, xol_vaddr);
	walk->pending = (u64)BPF_CORE_READ(utask, return_instances);
	if (walk->pending)
		walk->trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

/* The stack pointer that the caller of the first entry's call will have. */
static __always_inline int pending_is_at(const struct walk *walk, u64 *ret_sp)
{
	const struct return_instance *first = (void *)walk->pending;
	unsigned long place = 0;

	if (!first || bpf_probe_read_kernel(&place, sizeof(place), &first->stack))
		return 0;
	*ret_sp = place + BELOW_CALLER;
	return 1;
}

/* Whether the caller that the walk has come to is none. */
static __always_inline int is_caller_hidden(const struct walk *walk)
{
	return walk->trampoline && walk->pc == walk->trampoline - 1;
}

/* Looks at one entry, and goes on to the next; the walk has come to the true caller, or to the same
 * one again. Where there is no entry for it, it is not hidden any more, but unknown. */
static __always_inline enum step look_behind_trampoline(struct walk *walk)
{
	const struct return_instance *first = (void *)walk->pending;
	unsigned long address = 0, next = 0;
	u64 sp;

	if (!pending_is_at(walk, &sp) || sp > walk->sp + AT_MOST_ABOVE ||
	    bpf_probe_read_kernel(&next, sizeof(next), &first->next) ||
	    bpf_probe_read_kernel(&address, sizeof(address), &first->orig_ret_vaddr)) {
		walk->trampoline = 0;
		return STEP_CALLER;
	}
	walk->pending = next;
	if (sp < walk->sp)
		return STEP_CALLER;
	return walk_to_caller(walk, address, sp, walk->fp);
}

/* From the trampoline's own instructions to the function that will be returned to. */
static __always_inline int is_on_trampoline(struct walk *walk)
{
	u64 sp;

	if (!walk->trampoline || !walk->leaf || walk->pc - walk->trampoline >= TRAMPOLINE_BYTES ||
	    !pending_is_at(walk, &sp) || sp - walk->sp > TRAMPOLINE_PUSHES)
		return 0;
	walk->sp = sp;
	return 1;
}
