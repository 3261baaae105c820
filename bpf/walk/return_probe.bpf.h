/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Addresses that uprobes have hidden. An instruction that a probe has replaced is stepped as a copy
 * in [uprobes], and a tick that comes then finds the copy's address.
 *
 * Return addresses may not be on the stack. While a function with a return probe runs, the kernel
 * has replaced the return address on the stack by the address of its trampoline, the first bytes of
 * [uprobes]. It keeps the true return address in a list of the task: kernel/events/uprobes.c,
 * prepare_uretprobe().
 *
 * The list begins with the innermost call and goes up the stack, as a walk does, so one pass over
 * it is enough. Tail calls have several entries for one place, each with the true address. Calls
 * that a longjmp has ended may still be in the list: an entry is believed for its own place on the
 * stack only, and only where the trampoline is found there. A list that changes during the walk (a
 * tick in the middle of a return, before Linux 6.11) may end too soon; then the stack is truncated.
 */
#pragma once

#include "bpf/task.bpf.h"
#include "bpf/walk/walk.bpf.h"

#include <bpf/bpf_core_read.h>

enum {
	MAX_INSTRUCTION_BYTES = 16,
	MAX_PENDING_RETURNS = 64, /* kernel/events/uprobes.c: MAX_URETPROBE_DEPTH */
	/* arch/x86/kernel/uprobes.c, uretprobe_trampoline_entry: the trampoline is not longer
	 * than this, and pushes three registers. It is one instruction on arm64 and before Linux
	 * 6.11. */
	TRAMPOLINE_BYTES = 64,
	TRAMPOLINE_PUSHES = 3 * sizeof(u64),
};

/* The kernel identifies a call by the stack pointer at its entry. BELOW_CALLER: how far that is
 * below the stack pointer after the return. AT_MOST_ABOVE: how far the latter may be above the
 * walk's value for it, since arm64's frame records may be anywhere in their frames. */
#if defined(__TARGET_ARCH_x86)
enum { BELOW_CALLER = sizeof(u64), AT_MOST_ABOVE = 0 };
#else
enum { BELOW_CALLER = 0, AT_MOST_ABOVE = MAX_FRAME_BYTES };
#endif

/* Reads with bpf_probe_read_kernel(): see task_image(). */
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

/* The stack pointer that the caller will have after the return of the first entry's call. */
static __always_inline int pending_is_at(const struct walk *walk, u64 *ret_sp)
{
	const struct return_instance *first = (void *)walk->pending;
	unsigned long place = 0;

	if (!first || bpf_probe_read_kernel(&place, sizeof(place), &first->stack))
		return 0;
	*ret_sp = place + BELOW_CALLER;
	return 1;
}

/* Whether the walk stands at the trampoline in the place of a caller. */
static __always_inline int is_caller_hidden(const struct walk *walk)
{
	return walk->trampoline && walk->pc == walk->trampoline - 1;
}

/* Looks at one entry and advances the list. The walk then stands at the true caller, or still at
 * the trampoline. If no entry matches, the caller counts as unknown, and no longer as hidden. */
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

/* Whether the walk stands at one of the trampoline's own instructions. If so, walk->sp becomes that
 * of the function that will be returned to. */
static __always_inline int is_on_trampoline(struct walk *walk)
{
	u64 sp;

	if (!walk->trampoline || !walk->leaf || walk->pc - walk->trampoline >= TRAMPOLINE_BYTES ||
	    !pending_is_at(walk, &sp) || sp - walk->sp > TRAMPOLINE_PUSHES)
		return 0;
	walk->sp = sp;
	return 1;
}
