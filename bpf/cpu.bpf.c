/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU time: on each tick of the sampling timer, where the running task is.
 */
#include "bpf/unwind.bpf.h"

/* Nanoseconds a tick stands for. */
const volatile u64 period_ns = 1;
/* The timer runs by the clock (not by cycles), so that a gap between ticks means missed ones. */
const volatile u32 timer_is_clock = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, u64);
	__uint(max_entries, 1);
} last_tick SEC(".maps");

/* A sleeping idle CPU, the hypervisor and long stretches with interrupts off swallow ticks; say so.
 */
static __always_inline void count_missed(u32 half, u64 now)
{
	u32 zero = 0;
	u64 *last = bpf_map_lookup_elem(&last_tick, &zero);
	u64 periods;

	if (!last)
		return;
	if (timer_is_clock && *last) {
		periods = (now - *last + period_ns / 2) / period_ns;
		if (periods > 1)
			count(half, COUNTER_ticks_missed, periods - 1);
	}
	*last = now;
}

/* The context may be read at constant offsets only, and the compiler must not merge such reads with
 * those of another structure: hence volatile, and a copy. */
static __always_inline void copy_regs(struct pt_regs *to, struct bpf_perf_event_data *ctx)
{
	volatile struct pt_regs *from = &ctx->regs;

	REGS_PC(to) = REGS_PC(from);
	REGS_FP(to) = REGS_FP(from);
	REGS_MODE(to) = REGS_MODE(from);
}

static __always_inline u64 walk_kernel(struct bpf_perf_event_data *ctx, u32 half)
{
	struct scratch *scratch = scratch_get();
	long bytes;

	if (!scratch)
		return STACK_LOST;
	bytes = bpf_get_stack(ctx, scratch->frames, MAX_KERNEL_FRAMES * sizeof(u64), 0);
	if (bytes <= 0) {
		count(half, COUNTER_kernel_stack_failed, 1);
		return STACK_NONE;
	}
	return stack_store(half, bytes / sizeof(u64));
}

/* The sample's own registers are those of user space, or else those saved when the kernel was
 * entered. */
static __always_inline u64 walk_user(const struct pt_regs *sampled, u32 half)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct pt_regs regs;

	if (REGS_USER(sampled))
		return unwind_user(half, REGS_PC(sampled), REGS_FP(sampled), REGS_COMPAT(sampled));
	if (task->flags & PF_KTHREAD)
		return STACK_NONE;
	if (bpf_probe_read_kernel(&regs, sizeof(regs), (void *)bpf_task_pt_regs(task)))
		return STACK_NONE;
	/* Workers that the kernel makes inside a process never were in user space. */
	if (REGS_PC(&regs) == 0 || !REGS_USER(&regs))
		return STACK_NONE;
	return unwind_user(half, REGS_PC(&regs), REGS_FP(&regs), REGS_COMPAT(&regs));
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	u64 now = bpf_ktime_get_ns();
	u32 half = half_acquire(now);
	u64 kernel_stack = STACK_NONE, user_stack;
	struct pt_regs regs;

	count(half, COUNTER_ticks, 1);
	count_missed(half, now);
	if (bpf_get_current_pid_tgid() == 0) {
		count(half, COUNTER_idle, 1);
	} else {
		copy_regs(&regs, ctx);
		if (!REGS_USER(&regs))
			kernel_stack = walk_kernel(ctx, half);
		user_stack = walk_user(&regs, half);
		tally_add(half, KIND_cpu, kernel_stack, user_stack, period_ns);
	}
	half_release();
	return 0;
}
