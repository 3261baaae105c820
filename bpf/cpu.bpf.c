/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU time: each tick of the sampling timers records where the running task is.
 *
 * A timer that runs by the clock fires as an interrupt. While interrupts are off, the timer is
 * late: it finds the task that runs when they are on again, which is the idle task or the next
 * task, never the outgoing task on its way to sleep. So a tick that is due at a context switch is
 * taken there, for the outgoing task; the interrupt that follows is not counted as another tick.
 *
 * The scheduler counts a task's run time from its wakeup, although the idle task runs until the
 * switch. On a virtual machine the time from the wakeup to the switch is longer than many tasks
 * run. Ticks that are due in that time are owed: they are taken when the task goes to sleep again.
 */
#include "bpf/growth/growth.bpf.h"
#include "bpf/ticks.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

#include <bpf/bpf_core_read.h>

/* Nanoseconds that a tick stands for, all timers of a CPU together. */
const volatile u64 period_ns = 1;
/* How long a tick has stopped the CPU before its program reads the clock. */
const volatile u64 lag_ns;
u32 switches_are_watched;

struct ticker_map tickers SEC(".maps");

/*
 * A timer's ticks come at fixed intervals, each some time after the timer has expired: on virtual
 * machines 40 microseconds, and for a while 100. `due` is the time by which half of the undelayed
 * ticks have come. Undelayed ticks are those that find user code, which cannot turn interrupts off.
 * `due` follows them in small steps; each step is twice the one before while all ticks are late, or
 * all are early. After MANY_LATE consecutive ticks that are later than any interrupt should be, the
 * timer is taken to have started anew.
 */
enum { VERY_LATE_NS = 1000 * 1000, MANY_LATE = 16, STEP_NS = 250, DOUBLED_MAX = 7 };
enum { BEHIND_STEP_NS = 1000 };

static __always_inline int is_idle_task(void)
{
	return bpf_get_current_pid_tgid() == 0;
}

static __always_inline void find_first_due(struct ticker *ticker)
{
	u64 first = ~0ULL, kept = ticker->undecided | ticker->owed[CPU_TIMERS];

#pragma unroll
	for (u32 i = 0; i < CPU_TIMERS; i++) {
		kept |= ticker->owed[i];
		if (ticker->due[i] && ticker->due[i] < first)
			first = ticker->due[i];
	}
	/* With a tick owed or undecided, the next switch must be looked at. */
	ticker->first_due = kept ? 1 : first;
}

static __always_inline void follow(struct ticker *ticker, u32 timer, s64 late)
{
	s64 *streak = &ticker->streak[timer & (CPU_TIMERS - 1)], sign = late < 0 ? -1 : 1;
	s64 doubled = *streak * sign, step;

	if (doubled < 0)
		*streak = doubled = 0;
	*streak += sign;
	step = STEP_NS << (doubled < DOUBLED_MAX ? doubled : DOUBLED_MAX);
	ticker->due[timer & (CPU_TIMERS - 1)] += step < late * sign ? step * sign : late;
}

/* Whether a tick that comes now is new, that is, was not taken at a switch before. `when` receives
 * the time at which it was due: a tick that comes with another timer's interrupt may be early.
 * Ticks that never came are counted at `at`. */
static __always_inline int tick_is_new(struct ticker *ticker, u64 cookie, u64 now, u32 at,
                                       int finds_user, u64 *when)
{
	u64 timer = cookie % CPU_TIMERS, period = cookie / CPU_TIMERS;
	u64 *due = &ticker->due[timer & (CPU_TIMERS - 1)];
	u64 *very_late = &ticker->very_late[timer & (CPU_TIMERS - 1)];
	s64 late = now - *due, missed = 0;
	int is_new = 1;

	*when = now;
	if (!period)
		return 1;
	if (!*due || ticker->period[timer & (CPU_TIMERS - 1)] != period) {
		ticker->period[timer & (CPU_TIMERS - 1)] = period;
		*due = now + period;
		return 1;
	}
	if (late < -(s64)(period / 2)) {
		is_new = 0;
		*due -= period;
		late += period;
	}
	if (late >= (s64)period) {
		missed = (u64)late / period;
		late -= missed * period;
		count(at, COUNTER_ticks_missed, missed);
	}
	if (late < VERY_LATE_NS)
		*very_late = 0;
	else if (++*very_late < MANY_LATE)
		late = 0;
	*when = now - late;
	*due += (missed + 1) * period;
	if (late <= -VERY_LATE_NS || late >= VERY_LATE_NS)
		*due += late;
	else if (finds_user && late)
		follow(ticker, timer, late);
	return is_new;
}

/* The run queue of the current CPU; NULL in a kernel without group scheduling. */
static __always_inline struct rq *rq_current(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return bpf_core_field_exists(struct cfs_rq, rq) ? BPF_CORE_READ(task, se.cfs_rq, rq) : NULL;
}

static __always_inline int is_somebody_woken(void)
{
	struct rq *rq = rq_current();

	return rq && BPF_CORE_READ(rq, nr_running);
}

/* It is known where the current task was at a tick if the task had just been switched to, or is
 * about to be left: it was in the kernel. Some machines lose the interrupt of a tick that comes
 * with a wakeup; such a tick is noticed when the task sleeps again. */
enum { SWITCHED_TO_NS = 5000, BEING_LEFT_NS = 50 * 1000 };

static __always_inline int is_elsewhere(u64 due, u64 began, u64 until)
{
	return due > began + SWITCHED_TO_NS && due + BEING_LEFT_NS < until;
}

static __always_inline void count_idle(u32 at, u64 ticks)
{
	count(at, COUNTER_ticks, ticks);
	count(at, COUNTER_idle, ticks);
}

/* Takes a timer's ticks that were due by `until`. Returns when the first of them was due, or 0 if
 * none was; `more` receives how many others there were. The timer's next tick is then due after
 * `until`. */
static __always_inline u64 pass_due(struct ticker *ticker, u32 timer, u64 until, u64 *more)
{
	u64 period = ticker->period[timer], due = ticker->due[timer];

	if (!period || !due || due > until)
		return 0;
	*more = (until - due) / period;
	ticker->due[timer] += (*more + 1) * period;
	return due;
}

/* Takes the ticks that were due by `until` and returns how many are to be counted by the caller. If
 * `began` is 0 the CPU was idle, and each period that went by is one tick. Otherwise the current
 * task began at `began`, and ticks that were due before that are the idle task's. This function,
 * and those below that go through all timers, are global: otherwise the verifier would check each
 * path through one of them after each path through another. */
__noinline u32 ticks_take_due(u64 began, u64 until, u32 at)
{
	struct ticker *ticker = ticker_get();
	u64 idle = 0, missed = 0;
	u32 taken = 0;

	for (u32 i = 0; ticker && i < CPU_TIMERS; i++) {
		u64 more = 0, due = pass_due(ticker, i, until, &more);

		if (!due)
			continue;
		if (!began) {
			taken += more + 1;
			continue;
		}
		missed += more;
		if (due < began)
			idle++;
		else if (is_elsewhere(due, began, until))
			missed++;
		else
			taken++;
	}
	count_idle(at, idle);
	count(at, COUNTER_ticks_missed, missed);
	return taken;
}

/* Walks from the sample's own registers if they are those of user space, else from those saved when
 * the kernel was entered. */
static __always_inline u64 walk_user(struct bpf_perf_event_data *ctx, u32 at)
{
	if (REGS_USER(&ctx->regs))
		return walk_user_of(at, &ctx->regs);
	return unwind_entry(at);
}

/* Whether the task is in the kernel, but not by a system call. */
static __always_inline int is_in_fault(struct bpf_perf_event_data *ctx, u32 at)
{
	struct scratch *scratch = scratch_get(at);

	return scratch && !REGS_USER(&ctx->regs) && REGS_USER(&scratch->entry) &&
	       !REGS_SYSCALL(&scratch->entry);
}

static __always_inline void sample(struct bpf_perf_event_data *ctx, struct ticker *ticker, u32 at,
                                   u64 when)
{
	u64 kernel_stack = STACK_NONE, user_stack;

	if (switches_are_watched && is_idle_task() && !ticker->undecided && is_somebody_woken()) {
		ticker->undecided = when;
		return;
	}
	count(at, COUNTER_ticks, 1);
	if (is_idle_task()) {
		count(at, COUNTER_idle, 1);
		return;
	}
	if (!REGS_USER(&ctx->regs))
		kernel_stack = walk_kernel(ctx, at);
	user_stack = walk_user(ctx, at);
	tally_add(at, KIND_cpu, kernel_stack, user_stack, period_ns);
	if (resident_is_watched && is_in_fault(ctx, at))
		resident_tick(at, user_stack);
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	u64 now = bpf_ktime_get_ns();
	u64 cookie = bpf_get_attach_cookie(ctx);
	u32 at = lane_enter(LANE_TICK, now);
	struct ticker *ticker = ticker_get();
	u64 when;

	if (at == LANE_BUSY)
		return 0;
	if (ticker && tick_is_new(ticker, cookie, now - lag_ns, at, REGS_USER(&ctx->regs), &when))
		sample(ctx, ticker, at, when);
	if (ticker)
		find_first_due(ticker);
	lane_leave(at);
	return 0;
}

/* Makes the ticks that are due by `now` owed. */
__noinline u32 ticks_owe_due(u64 now, u32 at)
{
	struct ticker *ticker = ticker_get();
	u64 missed = 0;

	for (u32 i = 0; ticker && i < CPU_TIMERS; i++) {
		u64 more = 0, due = pass_due(ticker, i, now, &more);

		if (!due)
			continue;
		missed += more + (ticker->owed[i] != 0); /* an owed tick that was never taken */
		ticker->owed[i] = due;
	}
	count(at, COUNTER_ticks_missed, missed);
	return 0;
}

/* Takes the owed ticks and returns how many are the current task's; those due before `began` are
 * the idle task's. A task that another CPU has woken begins when the hypervisor lets its own CPU
 * run; only later does the scheduler learn that the time until then was stolen. */
__noinline u32 ticks_take_owed(u64 began, u32 at)
{
	struct ticker *ticker = ticker_get();
	u32 idle = 0, taken = 0;

	for (u32 i = 0; ticker && i <= CPU_TIMERS; i++) {
		u64 due = ticker->owed[i];

		ticker->owed[i] = 0;
		if (due && due < began)
			idle++;
		else if (due)
			taken++;
	}
	count_idle(at, idle);
	return taken;
}

/* The CPU switches from the idle task to `next`, whose time the scheduler counts from its
 * wakeup. */
static __always_inline void leave_idle(struct ticker *ticker, u32 at, struct task_struct *next,
                                       u64 now)
{
	struct rq *rq = rq_current();
	u64 woken = now;
	u32 idle;

	if (rq && ticker->behind)
		woken = BPF_CORE_READ(next, se.exec_start) + BPF_CORE_READ(rq, clock) -
		        BPF_CORE_READ(rq, clock_task) + ticker->behind;
	if (woken > now)
		woken = now;
	idle = ticks_take_due(0, woken, at);
	if (ticker->undecided && ticker->undecided < woken)
		idle++;
	else if (ticker->undecided > now + SWITCHED_TO_NS)
		count(at, COUNTER_ticks_missed, 1);
	else if (ticker->undecided)
		ticker->owed[CPU_TIMERS] = ticker->undecided;
	ticker->undecided = 0;
	count_idle(at, idle);
	ticks_owe_due(now, at);
}

/* When the scheduler last set its clock, just now or earlier: the outgoing task's time ends there,
 * before the next task is chosen. The next task is seldom chosen at once, so the smallest distance
 * seen between the two clocks is taken as their offset. */
static __always_inline u64 clock_set_at(struct ticker *ticker, u64 now)
{
	struct rq *rq = rq_current();
	u64 clock = rq ? BPF_CORE_READ(rq, clock) : 0;
	s64 above = now - clock - ticker->behind;

	if (!clock)
		return now;
	if (!ticker->behind || above < 0 || above > VERY_LATE_NS)
		ticker->behind = now - clock;
	else
		ticker->behind += above >> 3 < BEHIND_STEP_NS ? above >> 3 : BEHIND_STEP_NS;
	return clock + ticker->behind;
}

static __always_inline void leave_task(struct bpf_raw_tracepoint_args *ctx, struct ticker *ticker,
                                       u32 at, u64 now)
{
	struct sched_entity *se = &task_current()->se;
	u64 until = clock_set_at(ticker, now), kernel_stack, user_stack;
	u64 began = until - (se->sum_exec_runtime - se->prev_sum_exec_runtime);
	u32 taken = ticks_take_due(began, until, at) + ticks_take_owed(began, at);

	if (!taken)
		return;
	kernel_stack = walk_tracepoint(ctx, at, 1 /* ticks_at_switch() */, 0, MAX_KERNEL_FRAMES);
	user_stack = unwind_entry(at);
	for (u32 i = 0; i < taken && i < 2 * CPU_TIMERS; i++) {
		count(at, COUNTER_ticks, 1);
		tally_add(at, KIND_cpu, kernel_stack, user_stack, period_ns);
	}
}

__noinline u32 ticks_at_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct ticker *ticker = ticker_get();
	u64 now = bpf_ktime_get_ns();
	u32 at;

	if (!ticker || now < ticker->first_due)
		return 0;
	at = lane_enter(LANE_TICK, now);
	if (at == LANE_BUSY)
		return 0;
	if (is_idle_task())
		leave_idle(ticker, at, (struct task_struct *)ctx->args[2], now);
	else
		leave_task(ctx, ticker, at, now);
	find_first_due(ticker);
	lane_leave(at);
	return 0;
}

/* The scheduler is about to switch away from the current task. Where waits are recorded,
 * wait_switch does this as well: a second program at the same place costs as much again. */
SEC("raw_tp/sched_switch")
int cpu_switch(struct bpf_raw_tracepoint_args *ctx)
{
	if (ticks_are_due())
		ticks_at_switch(ctx);
	return 0;
}
