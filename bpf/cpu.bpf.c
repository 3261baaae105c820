/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU time: on each tick of the sampling timers, where the running task is.
 *
 * A timer that runs by the clock is an interrupt. While interrupts are off it is late, and finds
 * what runs when they are on again: never the kernel on its way to sleep, but the idle task or
 * whoever is next. So a tick that is due when the scheduler switches is taken there, of the task
 * that goes; the interrupt that follows is not another one.
 *
 * From when a sleeper is woken the scheduler counts its time, though the idle task is there until
 * it is switched to: on a virtual machine for longer than many run. Such ticks are owed: they are
 * taken when it goes to sleep again.
 */
#include "bpf/growth.bpf.h"
#include "bpf/unwind_entry.bpf.h"

#include <bpf/bpf_core_read.h>

/* Nanoseconds a tick stands for, all timers of a CPU together. */
const volatile u64 period_ns = 1;
/* How long a tick has stopped the CPU before its program reads the clock. */
const volatile u64 lag_ns;
/* cpu_switch is attached. */
u32 switches_are_watched;

/* Of one CPU, where only interrupts and what turns them off come here: nothing comes between. */
struct ticker {
	u64 first_due;             /* of those below */
	u64 period[CPU_TIMERS];    /* from one tick of a timer to its next */
	u64 due[CPU_TIMERS];       /* CLOCK_MONOTONIC; 0 until the timer's first tick */
	u64 very_late[CPU_TIMERS]; /* ticks in a row */
	s64 streak[CPU_TIMERS]; /* ticks in a row that were late, or early where it is negative */
	/* When ticks were due that whoever comes after the idle task owes; 0: none. One of each
	 * timer, and the one that was undecided. */
	u64 owed[CPU_TIMERS + 1];
	u64 behind;    /* rq.clock, behind CLOCK_MONOTONIC at least; 0: not known */
	u64 undecided; /* when a tick was due that found the idle task about to be left; 0: none */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct ticker);
	__uint(max_entries, 1);
} tickers SEC(".maps");

/*
 * A timer's ticks come at fixed intervals, each some time after the timer has run out: on virtual
 * machines 40 microseconds, and for a while 100. They are due when half of those come that nothing
 * has kept waiting, which are those that find user code: it cannot turn interrupts off. That is
 * followed by small steps, each twice the one before while ticks are all late, or all early.
 * After so many that are later than any interrupt should be, the timer has begun anew.
 */
enum { VERY_LATE_NS = 1000 * 1000, MANY_LATE = 16, STEP_NS = 250, DOUBLED_MAX = 7 };
enum { BEHIND_STEP_NS = 1000 };

static __always_inline struct ticker *ticker_get(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&tickers, &zero);
}

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
	/* The next switch is wanted at once. */
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

/* Whether a tick that comes now was not taken before; `when`: when it is due, for one that comes
 * with another timer's interrupt may be early; `at`: where those that never came are counted. */
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

/* NULL where the kernel cannot schedule groups. */
static __always_inline struct rq *rq_current(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return bpf_core_field_exists(struct cfs_rq, rq) ? BPF_CORE_READ(task, se.cfs_rq, rq) : NULL;
}

/* rq.clock, which the scheduler has set a moment ago when it switches; 0 where it is not to be had.
 * Loads only, not a call: most switches see nothing else of profd. */
static __always_inline u64 rq_clock(void)
{
	return bpf_core_field_exists(struct cfs_rq, rq) ? task_current()->se.cfs_rq->rq->clock : 0;
}

static __always_inline int is_somebody_woken(void)
{
	struct rq *rq = rq_current();

	return rq && BPF_CORE_READ(rq, nr_running);
}

/* Where the current task was at a tick is known if it had just been switched to then, or is about
 * to be left: in the kernel. Some machines lose the interrupt of a tick that comes with a wakeup;
 * such a tick is known of when the task sleeps again. */
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

/* When a timer's tick was due that is by now, or 0; its next one is then due after `until`. `more`:
 * how many others went by. */
static __always_inline u64 pass_due(struct ticker *ticker, u32 timer, u64 until, u64 *more)
{
	u64 period = ticker->period[timer], due = ticker->due[timer];

	if (!period || !due || due > until)
		return 0;
	*more = (until - due) / period;
	ticker->due[timer] += (*more + 1) * period;
	return due;
}

/* How many are due, from now on taken: those that were due before `until`. While the CPU was idle,
 * `began` being 0, each period that went by is one; else those are the idle task's that were due
 * before the current one began. Global, as those below that go through all timers: the verifier
 * would try each course through one after each course through the other. */
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

/* Frames of a program at the switch, and of what calls it. */
enum { SWITCH_SKIPS = 3 };

static __always_inline u64 walk_kernel(void *ctx, u32 at, u64 flags)
{
	struct scratch *scratch = scratch_get(at);
	long bytes;

	if (!scratch)
		return STACK_LOST;
	bytes = bpf_get_stack(ctx, scratch->frames, MAX_KERNEL_FRAMES * sizeof(u64), flags);
	if (bytes <= 0) {
		count(at, COUNTER_kernel_stack_failed, 1);
		return STACK_NONE;
	}
	return stack_store(at, bytes / sizeof(u64));
}

/* The sample's own registers are those of user space, or else those saved when the kernel was
 * entered. */
static __always_inline u64 walk_user(struct bpf_perf_event_data *ctx, u32 at)
{
	if (REGS_USER(&ctx->regs))
		return walk_user_of(at, &ctx->regs);
	return unwind_entry(at);
}

/* In the kernel, and not by a system call. */
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
		kernel_stack = walk_kernel(ctx, at, 0);
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

/* Those that are due are owed from now on. */
__noinline u32 ticks_owe_due(u64 now, u32 at)
{
	struct ticker *ticker = ticker_get();
	u64 missed = 0;

	for (u32 i = 0; ticker && i < CPU_TIMERS; i++) {
		u64 more = 0, due = pass_due(ticker, i, now, &more);

		if (!due)
			continue;
		missed += more + (ticker->owed[i] != 0); /* one that nobody has taken */
		ticker->owed[i] = due;
	}
	count(at, COUNTER_ticks_missed, missed);
	return 0;
}

/* Takes what is owed. A task that another CPU has woken begins when the hypervisor lets its own CPU
 * run; the scheduler knows only later that the time until then was stolen. */
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

/* The idle task is left for `next`, whose time the scheduler counts since it was woken. */
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

/* When the scheduler set its clock, a moment ago or more: the time of the task that goes ends
 * there, before the next one is chosen. Few are chosen at once, so the smallest distance is the
 * clock's. */
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
	kernel_stack = walk_kernel(ctx, at, SWITCH_SKIPS);
	user_stack = unwind_entry(at);
	for (u32 i = 0; i < taken && i < 2 * CPU_TIMERS; i++) {
		count(at, COUNTER_ticks, 1);
		tally_add(at, KIND_cpu, kernel_stack, user_stack, period_ns);
	}
}

/* The scheduler is about to leave the current task. */
SEC("raw_tp/sched_switch")
int cpu_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct ticker *ticker = ticker_get();
	u64 now;
	u32 at;

	if (!ticker || !ticker->first_due)
		return 0;
	if (ticker->behind && rq_clock() + ticker->behind < ticker->first_due)
		return 0;
	now = bpf_ktime_get_ns();
	if (now < ticker->first_due)
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
