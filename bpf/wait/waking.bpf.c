/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who ends waits: when a thread wakes another one whose wait is sampled, its own stacks are noted
 * with the wait. Most wakings find that the wait is not sampled, by one look-up.
 */
#include "bpf/wait/wait_open.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

/* try_to_wake_up(), which is in all of them. */
enum { WAKE_FRAMES = 0 };

/* The kernel's stack of a task: THREAD_SIZE, with pages of any size. */
#if defined(__TARGET_ARCH_x86)
enum { TASK_STACK_BYTES = 16 << 10 };
#else
enum { TASK_STACK_BYTES = 64 << 10 };
#endif

/* Whether the current task wakes the thread, and not an interrupt, which has nothing to do with the
 * task. Interrupts and softirqs have stacks of their own, and the context of this program is on the
 * stack in use; but on x86 an interrupt of user space uses the task's. */
static __always_inline int is_of_task(void *ctx, struct scratch *scratch)
{
	const struct pt_regs *entry = NULL;
	u64 sp;

	/* The verifier knows ctx as a pointer, with which it lets nothing be computed. */
	if (bpf_probe_read_kernel(&sp, sizeof(sp), &ctx) ||
	    sp - (u64)task_current()->stack >= TASK_STACK_BYTES)
		return 0;
#if defined(__TARGET_ARCH_x86)
	entry = regs_of_entry(scratch);
#endif
	return !entry || REGS_SYSCALL(entry);
}

static __always_inline void note(struct bpf_raw_tracepoint_args *ctx, struct scratch *scratch,
                                 u32 at, struct wait *wait)
{
	u64 ids = bpf_get_current_pid_tgid();

	scratch->keeps_stacks = 1;
	wait->waker.kernel_stack = walk_kernel(ctx, at, SWITCH_SKIPS + WAKE_FRAMES);
	wait->waker.user_stack = STACK_NONE;
	if (is_of_task(ctx, scratch)) {
		wait->waker.user_stack = unwind_entry(at);
		wait->waker.pid = ids >> 32;
		wait->waker.tid = (u32)ids;
		wait->waker.image = task_image();
	}
	scratch->keeps_stacks = 0;
}

SEC("raw_tp/sched_waking")
int wait_waking(struct bpf_raw_tracepoint_args *ctx)
{
	u64 who = ctx->args[0], now;
	const struct wait_seat *seat = seat_for(who);
	struct scratch *scratch;
	struct wait *wait;
	u32 at;

	if (!seat || !seat->open)
		return 0;
	wait = bpf_map_lookup_elem(&wait_open, &who);
	if (!wait || wait->has_ended || wait->woken_ns ||
	    WAIT_STATE_OF(wait->key.detail) == WAIT_RUNNABLE)
		return 0;
	now = bpf_ktime_get_ns();
	at = lane_enter(LANE_WAKE, now);
	if (at == LANE_BUSY)
		return 0;
	scratch = scratch_get(at);
	if (scratch && !__sync_val_compare_and_swap(&wait->woken_ns, 0, now))
		note(ctx, scratch, at, wait);
	lane_leave(at);
	return 0;
}
