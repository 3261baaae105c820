/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits: why and where threads are not on a CPU. A wait begins when the scheduler switches away
 * from a thread. It is accounted for when the scheduler does so the next time, from the times that
 * the scheduler itself keeps of the thread; nothing is done here when the thread is woken or runs
 * again.
 *
 * wait_draw.bpf.h decides which waits are sampled.
 */
#include "bpf/ticks.bpf.h"
#include "bpf/wait/wait_open.bpf.h"

/* Whether a wait is sampled: it stands for so many; its thread or place waits seldom. */
struct draw {
	u32 weight, is_seldom;
};

struct keeping {
	u64 key;
	u32 at, lost;
};

static long put_node(u32 index, void *context)
{
	struct keeping *keeping = context;
	struct scratch *scratch = scratch_get(keeping->at);
	struct stack_node *node;

	if (keeping->key < STACK_FIRST)
		return 1;
	node = bpf_map_lookup_elem(&kept_stacks, &keeping->key);
	if (!node || !scratch) {
		keeping->lost = 1;
		return 1;
	}
	scratch->node = *node;
	if (stack_put(keeping->at, keeping->key)) {
		keeping->lost = 1;
		return 1;
	}
	keeping->key = scratch->node.parent;
	return 0;
}

__noinline u64 wait_stack_put(u32 at, u64 key)
{
	struct keeping keeping = {.key = key, .at = at};

	bpf_loop(SCRATCH_FRAMES / NODE_FRAMES, put_node, &keeping, 0);
	return keeping.lost ? STACK_LOST : key;
}

/* Adds a part of a wait, whose key is in the scratch, to the half. */
__noinline u32 wait_put(u32 at, u32 detail, u64 samples, u64 value, u64 until)
{
	struct scratch *scratch = scratch_get(at);

	if (!scratch)
		return 0;
	scratch->key.detail = detail;
	if (WAIT_STATE_OF(detail) == WAIT_RUNNABLE)
		scratch->key.futex = 0;
	scratch->key.kernel_stack = wait_stack_put(at, scratch->key.kernel_stack);
	scratch->key.user_stack = wait_stack_put(at, scratch->key.user_stack);
	tally_put(at, samples, value, until);
	return 0;
}

/* rq.clock, which the scheduler has just set when it switches away from the current thread. Without
 * group scheduling it is computed from when the thread was switched to. */
static __always_inline u64 clock_of(struct task_struct *task)
{
	return rq_clock()
	               ?: task->sched_info.last_arrival + task->se.sum_exec_runtime -
	                          task->se.prev_sum_exec_runtime;
}

/* __schedule() and its caller, in all waits the same: without them the leaf is what waits, as in
 * /proc/PID/wchan. */
enum { SCHEDULE_FRAMES = 2 };

static __always_inline void begin_wait(struct bpf_raw_tracepoint_args *ctx,
                                       struct task_struct *task, struct scratch *scratch, u32 at,
                                       struct wait_seat *seat, u64 now, u64 clock, struct draw draw)
{
	u64 ids = bpf_get_current_pid_tgid(), who = bpf_get_current_task();
	u32 payer = user_place(), zero = 0, state = state_of(task, (int)ctx->args[0]);
	u64 times = pace_draws(now, payer, draw.is_seldom);
	struct wait *wait = bpf_map_lookup_elem(&wait_new, &zero), *open;

	if (rq_clock())
		wait_ahead_ns = now - clock;
	if (!times || !wait)
		return;
	*wait = (struct wait){
		.since_ns = now,
		.began_ns = now,
		.weight = draw.weight * times,
		.run_delay = task->sched_info.run_delay,
		.arrival_ns = task->sched_info.last_arrival,
		.ran_ns = task->se.sum_exec_runtime,
		.ahead_ns = now - clock,
		.user = (u32)bpf_get_current_uid_gid(),
		.key = {.pid = ids >> 32, .tid = (u32)ids, .kind = KIND_offcpu, .detail = state},
	};
	if (!may_open(0, &wait->place)) {
		count(at, COUNTER_waits_lost, wait->weight);
		return;
	}
	scratch->keeps_stacks = 1;
	scratch->kept_nodes = 0;
	wait->key.kernel_stack = walk_tracepoint(ctx, at, 0, SCHEDULE_FRAMES, MAX_KERNEL_FRAMES);
	wait->key.user_stack = unwind_entry(at);
	scratch->keeps_stacks = 0;
	pace_pay(payer, draw.is_seldom, scratch->kept_nodes, bpf_ktime_get_ns() - now);
	wait->key.image = task_image();
	wait->key.gil = wait->key.user_stack != STACK_NONE ? scratch->gil : 0;
	if (state != WAIT_RUNNABLE && wait->key.user_stack != STACK_NONE)
		wait->key.detail |= call_of(scratch) << WAIT_CALL_SHIFT;
	wait->key.futex = waited_futex(scratch, wait->key.detail);
	bpf_get_current_comm(wait->key.thread, sizeof(wait->key.thread));
	__sync_fetch_and_add(&seat->open, 1);
	if (bpf_map_update_elem(&wait_open, &who, wait, BPF_NOEXIST)) {
		give_back(wait->place, seat);
		/* It may have been taken up just now. */
		if (!bpf_map_lookup_elem(&wait_open, &who))
			count(at, COUNTER_waits_lost, wait->weight);
		return;
	}
	/* Taking the sample makes this wait longer, and no other wait for which it stands. */
	open = bpf_map_lookup_elem(&wait_open, &who);
	if (open)
		open->since_ns = bpf_ktime_get_ns();
}

static __always_inline void handle(struct bpf_raw_tracepoint_args *ctx, struct task_struct *task,
                                   struct wait_seat *seat, struct draw draw)
{
	u64 who = bpf_get_current_task(), now, clock;
	struct wait *wait = seat->open ? bpf_map_lookup_elem(&wait_open, &who) : NULL;
	struct scratch *scratch;
	u32 at;

	if (!wait && !draw.weight)
		return;
	now = bpf_ktime_get_ns();
	at = lane_enter(LANE_WAIT, now);
	if (at == LANE_BUSY) {
		if (wait)
			forget(who, wait->place, seat);
		return;
	}
	scratch = scratch_get(at);
	if (scratch) {
		clock = clock_of(task);
		scratch->user_and_1 = 0;
		if (wait) {
			/* The thread may have another user by now. */
			scratch->user_and_1 = (u64)wait->user + 1;
			end_wait(task, scratch, at, wait, wait->began_ns);
			forget(who, wait->place, seat);
			scratch->user_and_1 = 0;
		}
		if (draw.weight && !(task->flags & PF_EXITING))
			begin_wait(ctx, task, scratch, at, seat, now, clock, draw);
	}
	lane_leave(at);
}

/* Whether the wait that begins is sampled, as far as its thread and place are concerned. */
static __always_inline struct draw draw_wait(struct task_struct *task, struct wait_seat *seat,
                                             int is_preempted)
{
	u64 now = task->sched_info.last_arrival;
	struct draw draw = {.is_seldom = seat->spent_ns + SAVED_NS / 2 < now};

	if (seat_spends(seat, now, STEP_NS)) {
		draw.weight = 1;
		return draw;
	}
	seat = seat_of_place(bpf_get_current_task(), task, is_preempted);
	if (!seat)
		return draw;
	draw.is_seldom = seat->spent_ns + SAVED_NS / 2 < now;
	draw.weight = seat_spends(seat, now, STEP_NS) ?: seat_draws(seat, now, STEP_NS);
	return draw;
}

/* The scheduler is about to switch away from the current task. */
SEC("raw_tp/sched_switch")
int wait_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = task_current();
	struct wait_seat *seat;
	struct draw draw;

	if (switches_are_watched && ticks_are_due())
		ticks_at_switch(ctx);
	/* The idle task is one of the kernel's threads, too. */
	if (task->flags & PF_KTHREAD)
		return 0;
	seat = seat_for(bpf_get_current_task());
	if (!seat)
		return 0;
	draw = draw_wait(task, seat, state_of(task, (int)ctx->args[0]) == WAIT_RUNNABLE);
	if (draw.weight || seat->open)
		handle(ctx, task, seat, draw);
	return 0;
}
