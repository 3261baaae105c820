/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU time: on each tick of the sampling timer, where the running task is.
 */
#include "bpf/regs.bpf.h"
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
static __always_inline u64 walk_user(struct bpf_perf_event_data *ctx, u32 half)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct scratch *scratch = scratch_get();
	struct pt_regs *entry;

	if (!scratch)
		return STACK_LOST;
	if (REGS_USER(&ctx->regs)) {
		regs_by_number(scratch->regs, &ctx->regs);
		return unwind_user(half, REGS_COMPAT(&ctx->regs), 0);
	}
	/* A task that is ending has given its memory back, and its stack with it. */
	if (task->flags & PF_KTHREAD || !task->mm)
		return STACK_NONE;
	entry = &scratch->entry;
	if (bpf_probe_read_kernel(entry, sizeof(*entry), (void *)bpf_task_pt_regs(task)))
		return STACK_NONE;
	/* Workers that the kernel makes inside a process never were in user space. */
	if (REGS_PC(entry) == 0 || !REGS_USER(entry))
		return STACK_NONE;
	regs_by_number(scratch->regs, entry);
	return unwind_user(half, REGS_COMPAT(entry), REGS_SYSCALL(entry));
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	u64 now = bpf_ktime_get_ns();
	u32 half = half_acquire(now);
	u64 kernel_stack = STACK_NONE, user_stack;

	count(half, COUNTER_ticks, 1);
	count_missed(half, now);
	if (bpf_get_current_pid_tgid() == 0) {
		count(half, COUNTER_idle, 1);
	} else {
		if (!REGS_USER(&ctx->regs))
			kernel_stack = walk_kernel(ctx, half);
		user_stack = walk_user(ctx, half);
		tally_add(half, KIND_cpu, kernel_stack, user_stack, period_ns);
	}
	half_release();
	return 0;
}
