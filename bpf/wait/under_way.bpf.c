/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits under way when a half is about to end: an iterator over threads accounts for them, and
 * takes up those that were not sampled when they began.
 */
#include "bpf/wait/wait_open.bpf.h"

/* Waits that have gone on for long are accounted for seldom, unless a reader wants the boundary. */
enum { LONG_SHIFT = 33 /* 8.6 s */, SELDOM = 4 };

/* Set by the daemon before each round: its number, whether a reader wants the boundary, and when
 * the round before took place. */
u32 wait_round, wait_is_exact;
u64 wait_round_before_ns;

/* When a thread that has been woken began to want a CPU; `until` if it does not. */
static __always_inline u64 queued_at(struct task_struct *task, const struct wait *wait, u64 until)
{
	u64 queued = task->sched_info.last_queued;

	return queued && queued + wait->ahead_ns < until ? queued + wait->ahead_ns : until;
}

/* Whether all waits of the account that go on at a flip are known. Where it has many, there is room
 * for those only that are sampled when they begin. */
static __always_inline int are_all_known(u64 user_and_1)
{
	u32 zero = 0;
	struct taken *open = bpf_map_lookup_elem(&wait_taken, &zero);

	return open && taken_place(open, WAITS_OPEN / 2, user_and_1) != NO_ROOM;
}

static __always_inline int is_runnable(const struct wait *wait)
{
	return WAIT_STATE_OF(wait->key.detail) == WAIT_RUNNABLE;
}

/* `began_ns` tells whether the wait is still the one that was found: the thread may run meanwhile.
 */
static __always_inline void continue_wait(struct task_struct *task, struct scratch *scratch, u32 at,
                                          struct wait *wait, u64 began_ns, u64 until)
{
	u64 since = __sync_lock_test_and_set(&wait->since_ns, until), weight;
	u64 queued = queued_at(task, wait, until), slept;

	take_account(task, scratch, wait, until, task->sched_info.run_delay + (until - queued));
	scratch->key = wait->key;
	barrier();
	if (until <= since || *(volatile u64 *)&wait->began_ns != began_ns)
		return;
	/* Those that were not sampled are taken up, so none stands for another any more; but for
	 * threads that want a CPU. */
	if (!is_runnable(wait) && are_all_known(scratch->user_and_1))
		wait->weight = 1;
	weight = wait->weight;
	slept = queued > since ? queued - since : 0;
	if (slept)
		wait_put(at, scratch->key.detail, 0, slept * weight, until);
	scratch->key = wait->key;
	if (until - since > slept)
		wait_put(at, WAIT_RUNNABLE, 0, (until - since - slept) * weight, until);
}

static __always_inline int is_on_cpu(struct task_struct *task)
{
	/* With one CPU, this is the task that runs. */
	return bpf_core_field_exists(task->on_cpu) ? task->on_cpu : 0;
}

static __always_inline u64 kernel_stack_of(struct task_struct *task, u32 at,
                                           struct scratch *scratch)
{
	long bytes = bpf_get_task_stack(task, scratch->frames, MAX_KERNEL_FRAMES * sizeof(u64), 0);

	return bytes > 0 ? stack_store(at, bytes / sizeof(u64)) : STACK_NONE;
}

/* Of user space only the place that has called the kernel is known: the memory of another process
 * is not mapped here. */
static __always_inline u64 user_stack_of(struct scratch *scratch, u32 at)
{
	if (!REGS_USER(&scratch->entry))
		return STACK_NONE;
	scratch->frames[0] = REGS_PC(&scratch->entry) - (REGS_SYSCALL(&scratch->entry) != 0);
	scratch->frames[1] = COUNTER_cut_wait;
	count(at, COUNTER_cut_wait, 1);
	return stack_store(at, 2);
}

/* When a thread that does not run was switched away from; not before the last round. */
static __always_inline u64 left_at(struct task_struct *task, u64 now)
{
	u64 left = task->sched_info.last_arrival + wait_ahead_ns + task->se.sum_exec_runtime -
	           task->se.prev_sum_exec_runtime;

	/* Only the fair class keeps prev_sum_exec_runtime. */
	return left > wait_round_before_ns && left < now ? left : wait_round_before_ns;
}

/* A thread that exits may be switched away from for the last time before its wait is in the map. */
static __always_inline int may_have_run(const volatile struct task_struct *task, u64 arrival_ns)
{
	return is_on_cpu((struct task_struct *)task) || task->flags & PF_EXITING ||
	       task->sched_info.last_arrival != arrival_ns;
}

/* A wait that still goes on and was not sampled when it began: it was drawn by lot, or the daemon
 * was not there yet. It stands for itself. */
static __always_inline void take_up(struct task_struct *task, struct scratch *scratch, u32 at,
                                    struct wait_seat *seat, u64 who, u64 now)
{
	struct wait wait = {
		.weight = 1,
		.run_delay = task->sched_info.run_delay,
		.arrival_ns = task->sched_info.last_arrival,
		.ran_ns = task->se.sum_exec_runtime,
		.ahead_ns = wait_ahead_ns,
		.user = BPF_CORE_READ(task, cred, uid.val),
		.key = {.pid = task->tgid, .tid = task->pid, .kind = KIND_offcpu},
	};

	wait.since_ns = wait.began_ns = left_at(task, now);
	scratch->user_and_1 = (u64)wait.user + 1;
	if (wait.since_ns >= now || bpf_probe_read_kernel(&scratch->entry, sizeof(scratch->entry),
	                                                  (void *)bpf_task_pt_regs(task)))
		return;
	if (!are_all_known(scratch->user_and_1) || !may_open(scratch->user_and_1, &wait.place)) {
		count(at, COUNTER_wait_parts_lost, 1);
		return;
	}
	scratch->keeps_stacks = 1;
	wait.key.kernel_stack = kernel_stack_of(task, at, scratch);
	wait.key.user_stack = user_stack_of(scratch, at);
	scratch->keeps_stacks = 0;
	wait.key.image = image_of(task->group_leader);
	wait.key.detail = state_of(task, 0) | call_of(scratch) << WAIT_CALL_SHIFT;
	wait.key.futex = waited_futex(scratch, wait.key.detail);
	bpf_probe_read_kernel(wait.key.thread, sizeof(wait.key.thread), task->comm);
	__sync_fetch_and_add(&seat->open, 1);
	if (bpf_map_update_elem(&wait_open, &who, &wait, BPF_NOEXIST))
		give_back(wait.place, seat);
	else if (may_have_run(task, wait.arrival_ns))
		forget(who, wait.place, seat);
}

static __always_inline void account(struct task_struct *task, struct scratch *scratch, u32 at,
                                    struct wait *wait, u64 began_ns, u64 until)
{
	scratch->user_and_1 = (u64)wait->user + 1;
	if (task->sched_info.last_arrival == wait->arrival_ns) {
		continue_wait(task, scratch, at, wait, began_ns, until);
		return;
	}
	end_wait(task, scratch, at, wait, began_ns);
}

/* Whether the wait, or that of a thread that has none, is left to a later round. */
static __always_inline int is_left_out(struct task_struct *task, const struct wait *wait, u64 now)
{
	if (!wait)
		return is_on_cpu(task) || state_of(task, 0) == WAIT_RUNNABLE || !wait_ahead_ns;
	return wait->has_ended || (!wait_is_exact && (now - wait->began_ns) >> LONG_SHIFT &&
	                           ((u32)task->pid + wait_round) % SELDOM);
}

/* Accounts for the waits that are still under way, up to the flip that is planned, and for those of
 * threads that have run since. The daemon calls this when a flip is about to take place and drains
 * no half meanwhile, so even if the moment has passed, all of it belongs to the half before. */
SEC("iter/task")
int wait_under_way(struct bpf_iter__task *ctx)
{
	u64 planned = *(volatile u64 *)&flip, now = bpf_ktime_get_ns(), until = planned >> 1, who;
	u64 began_ns;
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
	if (!seat)
		return 0;
	wait = seat->open ? bpf_map_lookup_elem(&wait_open, &who) : NULL;
	began_ns = wait ? wait->began_ns : 0;
	if (is_left_out(task, wait, now))
		return 0;
	if (now < until)
		until = now;
	at = lane_enter_half(LANE_EVE, now, (planned & 1) ^ 1);
	if (at == LANE_BUSY)
		return 0;
	scratch = scratch_get(at);
	if (scratch) {
		if (!wait) {
			take_up(task, scratch, at, seat, who, until);
			wait = bpf_map_lookup_elem(&wait_open, &who);
			began_ns = wait ? wait->began_ns : 0;
		}
		if (wait && wait->key.tid == (u32)task->pid)
			account(task, scratch, at, wait, began_ns, until);
		scratch->user_and_1 = 0;
	}
	lane_leave(at);
	return 0;
}
