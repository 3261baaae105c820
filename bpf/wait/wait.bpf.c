/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waits: why and where threads are not on a CPU. A wait begins when the scheduler switches away
 * from a thread. It is accounted for when the scheduler does so the next time, from the times that
 * the scheduler itself keeps of the thread; nothing is done when the thread runs again or is woken.
 *
 * Which waits are sampled is decided when they begin, so their length has no part in it. Each
 * sample stands for `weight` waits, the inverse of its probability. A thread that waits up to 20
 * times a second has all its waits sampled. With many, the probability falls, and is 1 again when
 * samples were seldom for a while. Where a CPU or an account takes more samples than its pace
 * allows, further samples are drawn by lot, and those that remain stand for more waits.
 */
#include "bpf/hash.bpf.h"
#include "bpf/heap.h"
#include "bpf/wait.h"
#include "bpf/walk/unwind_entry.bpf.h"

#include "bpf/user.bpf.h"

#include <bpf/bpf_core_read.h>

/* The enum wait_call of each system call. Set before load. */
const volatile u8 wait_calls[WAIT_SYSCALLS];

/* A sampled wait under way. */
struct wait {
	u64 since_ns; /* what was before is accounted for; CLOCK_MONOTONIC */
	u64 began_ns;
	u64 weight;
	u64 run_delay; /* the thread's sched_info.run_delay when the wait began */
	u64 ahead_ns;  /* CLOCK_MONOTONIC less rq.clock */
	u64 has_ended; /* it is accounted for, and the thread has not been switched away from yet */
	u32 tid, user;
	u32 place; /* where the account's waits are counted */
	u32 unused;
	struct tally_key key;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, u32); /* tid */
	__type(value, struct wait);
	__uint(max_entries, WAITS_OPEN);
} wait_open SEC(".maps");

/* How often waits are sampled. Threads that share a seat share a probability, which does no harm:
 * each sample has the weight by which it was drawn. */
struct wait_seat {
	u64 spent_ns; /* the time up to which earned samples are spent, by rq.clock */
	u32 left;     /* waits until the next sample; 0: not drawn yet */
	u32 gap;      /* the inverse of the probability, where not all waits are sampled */
	u32 open;     /* sampled waits under way */
	u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct wait_seat);
	__uint(max_entries, WAIT_SEATS);
} wait_seats SEC(".maps");

/* Samples taken in a window, and the probability of a further one as a power of two. */
struct wait_rate {
	u32 window;
	u16 taken, halvings;
};

struct wait_pace {
	struct wait_rate all, of[ACCOUNT_PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct wait_pace);
	__uint(max_entries, 1);
} wait_paces SEC(".maps");

struct wait_taken {
	struct taken taken;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct wait_taken);
	__uint(max_entries, 1);
} wait_taken SEC(".maps");

enum {
	STEP_NS = 50 * 1000 * 1000,
	SAVED_NS = 1000 * 1000 * 1000,
	DEBT_NS = 500 * 1000 * 1000,
	GAP_STEP = 4,
	MAX_GAP = 1024,
	WINDOW_SHIFT = 27, /* a window is 134 ms */
	PACE_OF_CPU = 48,  /* samples of a window */
	PACE_OF_ACCOUNT = 32,
	MAX_HALVINGS = 16,
	SELDOM_HALVINGS = 2, /* so many fewer for threads that wait seldom */
};

static __always_inline u32 tid_of(struct task_struct *task)
{
	return task->pid;
}

static __always_inline struct wait_seat *seat_for(u32 tid)
{
	u32 at = mix(hash_key.start, tid) & (WAIT_SEATS - 1);

	return bpf_map_lookup_elem(&wait_seats, &at);
}

/* The number of waits from this one on until one is sampled, if each has a chance of 1 in `gap`. A
 * geometric distribution is an exponential one rounded up, whose mean is a little less than half
 * below `gap`. */
static __always_inline u32 draw_gap(u32 gap)
{
	if (gap <= 1)
		return 1;
	return 1 +
	       (u32)(heap_draw(bpf_get_prandom_u32(), (u64)gap * 1024 - 512 - 1024 / (12 * gap)) >>
	             10);
}

/* Whether the wait that begins is sampled as far as its seat is concerned; if so, with which
 * weight. A seat earns one sample in STEP_NS, and saves some up: while it has samples left, all
 * waits are sampled. */
static __always_inline u32 seat_draws(struct wait_seat *seat, u64 now)
{
	u32 gap = seat->gap ?: GAP_STEP;

	if (seat->spent_ns + SAVED_NS < now)
		seat->spent_ns = now - SAVED_NS;
	if (seat->spent_ns + STEP_NS <= now) {
		seat->spent_ns += STEP_NS;
		return 1;
	}
	if (seat->left > 1) {
		seat->left--;
		return 0;
	}
	if (!seat->left) {
		seat->gap = gap;
		seat->left = draw_gap(gap);
		return 0;
	}
	if (seat->spent_ns > now + DEBT_NS)
		seat->gap = gap < MAX_GAP ? gap * GAP_STEP : gap;
	else {
		seat->spent_ns += STEP_NS;
		if (seat->spent_ns < now + DEBT_NS / 2 && gap > GAP_STEP)
			seat->gap = gap / GAP_STEP;
	}
	seat->left = draw_gap(seat->gap);
	return gap;
}

/* The probability changes with what was taken before only. */
static __always_inline u32 rate_halvings(struct wait_rate *rate, u32 window, u32 pace)
{
	if (rate->window != window) {
		u32 passed = window - rate->window - 1;

		if (rate->taken < pace / 4)
			passed++;
		rate->halvings -= passed < rate->halvings ? passed : rate->halvings;
		rate->window = window;
		rate->taken = 0;
	} else if (rate->taken >= pace) {
		rate->halvings += rate->halvings < MAX_HALVINGS;
		rate->taken = 0;
	}
	return rate->halvings;
}

/* By how much the weight grows; 0: the sample is not taken. */
static __always_inline u64 pace_draws(u64 now, u32 place, int is_seldom)
{
	u32 zero = 0, window = now >> WINDOW_SHIFT, halvings;
	struct wait_pace *pace = bpf_map_lookup_elem(&wait_paces, &zero);
	struct wait_rate *own;

	if (!pace)
		return 0;
	barrier_var(place);
	own = &pace->of[place & (ACCOUNT_PLACES - 1)];
	halvings = rate_halvings(&pace->all, window, PACE_OF_CPU) +
	           rate_halvings(own, window, PACE_OF_ACCOUNT);
	if (is_seldom)
		halvings -= halvings < SELDOM_HALVINGS ? halvings : SELDOM_HALVINGS;
	if (bpf_get_prandom_u32() & ((1u << (halvings & 31)) - 1))
		return 0;
	pace->all.taken++;
	own->taken++;
	return 1ull << (halvings & 31);
}

static __always_inline u32 state_of(struct task_struct *task, int is_preempted)
{
	u32 state = task->__state;

	if (is_preempted || !state)
		return WAIT_RUNNABLE;
	if (state & TASK_INTERRUPTIBLE)
		return WAIT_SLEEP;
	return state & TASK_STOPPED_OR_TRACED ? WAIT_STOPPED : WAIT_DISK;
}

/* The scratch has the registers with which user space entered the kernel. */
static __always_inline u32 call_of(const struct scratch *scratch)
{
	u64 number = REGS_SYSCALL_NUMBER(&scratch->entry);

	if (!REGS_USER(&scratch->entry))
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
__noinline u32 wait_put(u32 at, u32 detail, u64 samples, u64 value)
{
	struct scratch *scratch = scratch_get(at);

	if (!scratch)
		return 0;
	scratch->key.detail = detail;
	scratch->key.kernel_stack = wait_stack_put(at, scratch->key.kernel_stack);
	scratch->key.user_stack = wait_stack_put(at, scratch->key.user_stack);
	tally_put(at, samples, value);
	return 0;
}

static __always_inline void forget(u32 tid, u32 place, struct wait_seat *seat)
{
	u32 zero = 0;
	struct wait_taken *open = bpf_map_lookup_elem(&wait_taken, &zero);

	bpf_map_delete_elem(&wait_open, &tid);
	__sync_fetch_and_add(&seat->open, -1);
	if (!open)
		return;
	barrier_var(place);
	if (place < ACCOUNT_PLACES)
		__sync_fetch_and_add(&open->taken.of[place], -1);
	__sync_fetch_and_add(&open->taken.all, -1);
}

/* Accounts for a wait from which a thread came when it was switched to. */
static __always_inline void end_wait(struct task_struct *task, struct scratch *scratch, u32 at,
                                     struct wait *wait)
{
	u64 since = wait->since_ns, left, runnable;
	u64 until = task->sched_info.last_arrival + wait->ahead_ns;
	u32 detail = wait->key.detail;

	if (__sync_lock_test_and_set(&wait->has_ended, 1))
		return;
	left = until > since ? until - since : 0;
	runnable = task->sched_info.run_delay - wait->run_delay;
	if (runnable > left || (detail & ((1 << WAIT_CALL_SHIFT) - 1)) == WAIT_RUNNABLE)
		runnable = left;
	scratch->key = wait->key;
	if (runnable && runnable < left) {
		wait_put(at, WAIT_RUNNABLE, 0, runnable * wait->weight);
		scratch->key = wait->key;
	}
	wait_put(at, runnable == left ? WAIT_RUNNABLE : detail, wait->weight,
	         (runnable == left ? left : left - runnable) * wait->weight);
}

/* rq.clock, which the scheduler has just set when it switches away from the current thread. Without
 * group scheduling it is computed from when the thread was switched to. */
static __always_inline u64 clock_of(struct task_struct *task)
{
	if (bpf_core_field_exists(struct cfs_rq, rq))
		return task->se.cfs_rq->rq->clock;
	return task->sched_info.last_arrival + task->se.sum_exec_runtime -
	       task->se.prev_sum_exec_runtime;
}

static __always_inline int may_open(u32 *ret_place)
{
	u32 zero = 0;
	struct wait_taken *open = bpf_map_lookup_elem(&wait_taken, &zero);

	if (!open)
		return 0;
	*ret_place = taken_place(&open->taken, WAITS_OPEN, 0);
	if (*ret_place == NO_ROOM)
		return 0;
	taken_count(&open->taken, *ret_place);
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
		.ahead_ns = now - clock,
		.tid = (u32)ids,
		.user = (u32)bpf_get_current_uid_gid(),
		.key = {.pid = ids >> 32, .tid = (u32)ids, .kind = KIND_offcpu},
	};
	u32 tid = wait.tid, state = state_of(task, (int)ctx->args[0]);
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
	if (bpf_map_update_elem(&wait_open, &tid, &wait, BPF_ANY)) {
		forget(tid, wait.place, seat);
		count(at, COUNTER_waits_lost, wait.weight);
		return;
	}
	/* Taking the sample makes this wait longer, and no other wait for which it stands. */
	open = bpf_map_lookup_elem(&wait_open, &tid);
	if (open)
		open->since_ns = bpf_ktime_get_ns();
}

static __always_inline void handle(struct bpf_raw_tracepoint_args *ctx, struct task_struct *task,
                                   struct wait_seat *seat, u32 weight)
{
	u64 now = bpf_ktime_get_ns();
	u32 at = lane_enter(LANE_WAIT, now), tid = tid_of(task);
	struct scratch *scratch;
	struct wait *wait = seat->open ? bpf_map_lookup_elem(&wait_open, &tid) : NULL;

	if (at == LANE_BUSY) {
		if (wait)
			forget(tid, wait->place, seat);
		return;
	}
	scratch = scratch_get(at);
	if (scratch) {
		scratch->user_and_1 = 0;
		if (wait) {
			end_wait(task, scratch, at, wait);
			forget(tid, wait->place, seat);
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
	seat = seat_for(tid_of(task));
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

static __always_inline void continue_wait(struct scratch *scratch, u32 at, struct wait *wait,
                                          u64 now)
{
	u64 boundary = *(volatile u64 *)&flip >> 1, until = boundary > now ? boundary : now;
	u64 since = __sync_lock_test_and_set(&wait->since_ns, until);

	scratch->key = wait->key;
	if (until > since)
		wait_put(at, wait->key.detail, 0, (until - since) * wait->weight);
}

/* Accounts for the waits that are still under way, up to the flip that comes now, and for those of
 * threads that have run since. */
SEC("iter/task")
int wait_under_way(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct scratch *scratch;
	struct wait_seat *seat;
	struct wait *wait;
	u64 now;
	u32 tid, at;

	if (!task || task->flags & (PF_KTHREAD | PF_EXITING))
		return 0;
	tid = task->pid;
	seat = seat_for(tid);
	if (!seat || !seat->open)
		return 0;
	wait = bpf_map_lookup_elem(&wait_open, &tid);
	if (!wait || wait->has_ended)
		return 0;
	now = bpf_ktime_get_ns();
	if (!wait_is_exact && (now - wait->began_ns) >> LONG_SHIFT && (tid + wait_round) % SELDOM)
		return 0;
	at = lane_enter(LANE_WAIT, now);
	if (at == LANE_BUSY)
		return 0;
	scratch = scratch_get(at);
	if (scratch) {
		scratch->user_and_1 = (u64)wait->user + 1;
		if (task->on_cpu)
			end_wait(task, scratch, at, wait);
		else
			continue_wait(scratch, at, wait, now);
		scratch->user_and_1 = 0;
	}
	lane_leave(at);
	return 0;
}
