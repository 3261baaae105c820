/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits: why and where threads are not on a CPU. A wait begins when the scheduler switches away
 * from a thread. It is accounted for when the scheduler does so the next time, from the times that
 * the scheduler itself keeps of the thread; nothing is done when the thread runs again or is woken.
 *
 * wait_draw.bpf.h decides which waits are sampled.
 */
#include "bpf/rq.bpf.h"
#include "bpf/wait/wait_draw.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

#include <bpf/bpf_core_read.h>

/* The enum wait_call of each system call. Set before load. */
const volatile u8 wait_calls[WAIT_SYSCALLS];

/* A sampled wait under way. */
struct wait {
	u64 since_ns; /* what was before is accounted for; CLOCK_MONOTONIC */
	u64 began_ns;
	u64 weight;
	u64 run_delay;  /* the thread's sched_info.run_delay when the wait began */
	u64 ahead_ns;   /* CLOCK_MONOTONIC less rq.clock */
	u64 arrival_ns; /* when the thread had been switched to before; by rq.clock */
	u64 has_ended; /* it is accounted for, and the thread has not been switched away from yet */
	u32 user;
	u32 place; /* where the account's waits are counted */
	struct tally_key key;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	/* The address of the thread's task_struct: its tid changes when it calls exec and is not
	 * the first thread of its process. A thread is switched away from one last time, so no
	 * other thread inherits its wait. */
	__type(key, u64);
	__type(value, struct wait);
	__uint(max_entries, WAITS_OPEN);
} wait_open SEC(".maps");

static __always_inline u32 state_of(struct task_struct *task, int is_preempted)
{
	u32 state = task->__state;

	/* It may have been woken already. */
	if (is_preempted || !state || state & TASK_WAKING)
		return WAIT_RUNNABLE;
	if (state & TASK_INTERRUPTIBLE)
		return WAIT_SLEEP;
	return state & TASK_STOPPED_OR_TRACED ? WAIT_STOPPED : WAIT_DISK;
}

/* The scratch has the registers with which user space entered the kernel. */
static __always_inline u32 call_of(const struct scratch *scratch)
{
	u64 number = REGS_SYSCALL_NUMBER(&scratch->entry);

	/* System calls of 32-bit programs have other numbers. */
	if (!REGS_USER(&scratch->entry) || REGS_COMPAT(&scratch->entry))
		return WAIT_OTHER;
#if defined(__TARGET_ARCH_x86)
	if (!REGS_SYSCALL(&scratch->entry))
		return WAIT_PAGE_FAULT;
#endif
	return number < WAIT_SYSCALLS ? wait_calls[number] : WAIT_OTHER;
}

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

/* Puts a kept stack into the half; returns its id, or STACK_LOST. */
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
	scratch->key.kernel_stack = wait_stack_put(at, scratch->key.kernel_stack);
	scratch->key.user_stack = wait_stack_put(at, scratch->key.user_stack);
	tally_put(at, samples, value, until);
	return 0;
}

static __always_inline void give_back(u32 place, struct wait_seat *seat)
{
	u32 zero = 0;
	struct taken *open = bpf_map_lookup_elem(&wait_taken, &zero);

	__sync_fetch_and_add(&seat->open, -1);
	if (!open)
		return;
	barrier_var(place);
	if (place < ACCOUNT_PLACES)
		__sync_fetch_and_add(&open->of[place], -1);
	__sync_fetch_and_add(&open->all, -1);
}

static __always_inline void forget(u64 who, u32 place, struct wait_seat *seat)
{
	if (!bpf_map_delete_elem(&wait_open, &who))
		give_back(place, seat);
}

/* Accounts for a wait from which a thread came when it was switched to. `began_ns` tells whether it
 * is still the wait that was found. */
static __always_inline void end_wait(struct task_struct *task, struct scratch *scratch, u32 at,
                                     struct wait *wait, u64 began_ns)
{
	u64 until = task->sched_info.last_arrival + wait->ahead_ns, weight = wait->weight;
	u64 since = __sync_lock_test_and_set(&wait->since_ns, until), left, runnable;
	u32 detail = wait->key.detail, is_runnable;

	if (*(volatile u64 *)&wait->began_ns != began_ns ||
	    __sync_lock_test_and_set(&wait->has_ended, 1))
		return;
	left = until > since ? until - since : 0;
	runnable = task->sched_info.run_delay - wait->run_delay;
	if (runnable > left || (detail & ((1 << WAIT_CALL_SHIFT) - 1)) == WAIT_RUNNABLE)
		runnable = left;
	scratch->key = wait->key;
	if (runnable && runnable < left) {
		wait_put(at, WAIT_RUNNABLE, 0, runnable * weight, until);
		scratch->key = wait->key;
	}
	is_runnable = left && runnable == left;
	wait_put(at, is_runnable ? WAIT_RUNNABLE : detail, weight,
	         (is_runnable ? left : left - runnable) * weight, until);
}

/* rq.clock, which the scheduler has just set when it switches away from the current thread. Without
 * group scheduling it is computed from when the thread was switched to. */
static __always_inline u64 clock_of(struct task_struct *task)
{
	return rq_clock()
	               ?: task->sched_info.last_arrival + task->se.sum_exec_runtime -
	                          task->se.prev_sum_exec_runtime;
}

static __always_inline int may_open(u32 *ret_place)
{
	u32 zero = 0;
	struct taken *open = bpf_map_lookup_elem(&wait_taken, &zero);

	if (!open)
		return 0;
	*ret_place = taken_place(open, WAITS_OPEN, 0);
	if (*ret_place == NO_ROOM)
		return 0;
	taken_count(open, *ret_place);
	return 1;
}

static __always_inline void begin_wait(struct bpf_raw_tracepoint_args *ctx,
                                       struct task_struct *task, struct scratch *scratch, u32 at,
                                       struct wait_seat *seat, u64 now, u32 weight)
{
	u64 ids = bpf_get_current_pid_tgid(), clock = clock_of(task);
	int is_seldom = seat->spent_ns + SAVED_NS / 2 < clock;
	u64 times = pace_draws(now, user_place(), is_seldom);
	struct wait wait = {
		.since_ns = now,
		.began_ns = now,
		.weight = weight * times,
		.run_delay = task->sched_info.run_delay,
		.arrival_ns = task->sched_info.last_arrival,
		.ahead_ns = now - clock,
		.user = (u32)bpf_get_current_uid_gid(),
		.key = {.pid = ids >> 32, .tid = (u32)ids, .kind = KIND_offcpu},
	};
	u64 who = bpf_get_current_task();
	u32 state = state_of(task, (int)ctx->args[0]);
	struct wait *open;

	if (!times)
		return;
	if (!may_open(&wait.place)) {
		count(at, COUNTER_waits_lost, wait.weight);
		return;
	}
	scratch->keeps_stacks = 1;
	wait.key.kernel_stack = walk_kernel(ctx, at, SWITCH_SKIPS);
	wait.key.user_stack = unwind_entry(at);
	scratch->keeps_stacks = 0;
	wait.key.image = task_image();
	wait.key.gil = wait.key.user_stack != STACK_NONE ? scratch->gil : 0;
	wait.key.detail = state;
	if (state != WAIT_RUNNABLE && wait.key.user_stack != STACK_NONE)
		wait.key.detail |= call_of(scratch) << WAIT_CALL_SHIFT;
	bpf_get_current_comm(wait.key.thread, sizeof(wait.key.thread));
	__sync_fetch_and_add(&seat->open, 1);
	if (bpf_map_update_elem(&wait_open, &who, &wait, BPF_NOEXIST)) {
		give_back(wait.place, seat);
		count(at, COUNTER_waits_lost, wait.weight);
		return;
	}
	/* Taking the sample makes this wait longer, and no other wait for which it stands. */
	open = bpf_map_lookup_elem(&wait_open, &who);
	if (open)
		open->since_ns = bpf_ktime_get_ns();
}

static __always_inline void handle(struct bpf_raw_tracepoint_args *ctx, struct task_struct *task,
                                   struct wait_seat *seat, u32 weight)
{
	u64 who = bpf_get_current_task(), now;
	struct wait *wait = seat->open ? bpf_map_lookup_elem(&wait_open, &who) : NULL;
	struct scratch *scratch;
	u32 at;

	if (!wait && !weight)
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
		scratch->user_and_1 = 0;
		if (wait) {
			/* The thread may have another user by now. */
			scratch->user_and_1 = (u64)wait->user + 1;
			end_wait(task, scratch, at, wait, wait->began_ns);
			forget(who, wait->place, seat);
			scratch->user_and_1 = 0;
		}
		if (weight && !(task->flags & PF_EXITING))
			begin_wait(ctx, task, scratch, at, seat, now, weight);
	}
	lane_leave(at);
}

/* The scheduler is about to switch away from the current task. */
SEC("raw_tp/sched_switch")
int wait_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = task_current();
	struct wait_seat *seat;
	u32 weight;

	/* The idle task is one of the kernel's threads, too. */
	if (task->flags & PF_KTHREAD)
		return 0;
	seat = seat_for(bpf_get_current_task());
	if (!seat)
		return 0;
	weight = seat_draws(seat, task->sched_info.last_arrival);
	if (weight || seat->open)
		handle(ctx, task, seat, weight);
	return 0;
}

/* Waits that have gone on for long are accounted for seldom, unless a reader wants the boundary. */
enum { LONG_SHIFT = 33 /* 8.6 s */, SELDOM = 4 };

/* Set by the daemon before each round. */
u32 wait_round, wait_is_exact;

/* `began_ns` tells whether the wait is still the one that was found: the thread may run meanwhile.
 */
static __always_inline void continue_wait(struct task_struct *task, struct scratch *scratch, u32 at,
                                          struct wait *wait, u64 began_ns, u64 until)
{
	u64 since = __sync_lock_test_and_set(&wait->since_ns, until), weight = wait->weight;

	scratch->key = wait->key;
	barrier();
	if (until > since && *(volatile u64 *)&wait->began_ns == began_ns)
		wait_put(at, task->__state ? scratch->key.detail : WAIT_RUNNABLE, 0,
		         (until - since) * weight, until);
}

/* Accounts for the waits that are still under way, up to the flip that is planned, and for those of
 * threads that have run since. The daemon calls this when a flip is about to take place and drains
 * no half meanwhile, so even if the moment has passed, all of it belongs to the half before. */
SEC("iter/task")
int wait_under_way(struct bpf_iter__task *ctx)
{
	u64 planned = *(volatile u64 *)&flip, now, who, began_ns;
	struct task_struct *task = ctx->task;
	struct scratch *scratch;
	struct wait_seat *seat;
	struct wait *wait;
	u32 at;

	if (!task || task->flags & (PF_KTHREAD | PF_EXITING))
		return 0;
	/* The verifier knows ctx->task as a pointer, of which it lets no hash be made. */
	if (bpf_probe_read_kernel(&who, sizeof(who), &ctx->task))
		return 0;
	seat = seat_for(who);
	if (!seat || !seat->open)
		return 0;
	wait = bpf_map_lookup_elem(&wait_open, &who);
	if (!wait || wait->has_ended)
		return 0;
	began_ns = wait->began_ns;
	now = bpf_ktime_get_ns();
	if (!wait_is_exact && (now - began_ns) >> LONG_SHIFT &&
	    ((u32)task->pid + wait_round) % SELDOM)
		return 0;
	at = lane_enter_half(LANE_EVE, now, (planned & 1) ^ 1);
	if (at == LANE_BUSY)
		return 0;
	scratch = scratch_get(at);
	if (scratch) {
		scratch->user_and_1 = (u64)wait->user + 1;
		if (task->sched_info.last_arrival != wait->arrival_ns)
			end_wait(task, scratch, at, wait, began_ns);
		else
			continue_wait(task, scratch, at, wait, began_ns,
			              now < planned >> 1 ? now : planned >> 1);
		scratch->user_and_1 = 0;
	}
	lane_leave(at);
	return 0;
}
