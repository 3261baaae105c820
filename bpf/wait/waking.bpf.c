/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who ends waits: when a thread wakes another one whose wait is sampled, its own stacks are noted
 * with the wait. Most wakings find that the wait is not sampled, by one look-up.
 */
#include "bpf/wait/wait_open.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

#include <bpf/bpf_core_read.h>

/* The waker pays for its stacks. Where its account has used up its pace, they are left out. Of an
 * interrupt only the innermost frames are noted: those further out are of what it interrupted. */
static __always_inline void note(struct bpf_raw_tracepoint_args *ctx, struct scratch *scratch,
                                 u32 at, struct wait *wait, u64 now)
{
	u64 ids = bpf_get_current_pid_tgid();
	u32 payer = user_place();

	wait->waker = (struct waker){.kernel_stack = STACK_NONE, .user_stack = STACK_NONE};
	scratch->keeps_stacks = 1;
	scratch->kept_nodes = 0;
	if (!is_of_task(ctx, scratch)) {
		wait->waker.kernel_stack = walk_tracepoint(ctx, at, 0, 0, NODE_FRAMES);
		wait->waker.user_and_1 = (u64)wait->user + 1;
	} else {
		wait->waker.pid = ids >> 32;
		wait->waker.tid = (u32)ids;
		wait->waker.image = task_image();
		wait->waker.user_and_1 = (u64)(u32)bpf_get_current_uid_gid() + 1;
		if (pace_draws(now, payer, 0)) {
			wait->waker.kernel_stack =
				walk_tracepoint(ctx, at, 0, 0, MAX_KERNEL_FRAMES);
			wait->waker.user_stack = unwind_entry(at);
			pace_pay(payer, 0, scratch->kept_nodes, bpf_ktime_get_ns() - now);
		}
	}
	scratch->keeps_stacks = 0;
}

/* The thread sleeps in the wait that was sampled: nobody else wakes it meanwhile, and its entry
 * stays. It might also run already, and only be about to sleep. */
static __always_inline int is_asleep(u64 who, const struct wait *wait)
{
	struct task_struct *task = (struct task_struct *)who;

	return BPF_CORE_READ(task, sched_info.last_arrival) == wait->arrival_ns;
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
	    WAIT_STATE_OF(wait->key.detail) == WAIT_RUNNABLE || !is_asleep(who, wait))
		return 0;
	now = bpf_ktime_get_ns();
	at = lane_enter(LANE_WAKE, now);
	if (at == LANE_BUSY)
		return 0;
	scratch = scratch_get(at);
	if (scratch && !__sync_val_compare_and_swap(&wait->woken_ns, 0, now))
		note(ctx, scratch, at, wait, now);
	lane_leave(at);
	return 0;
}
