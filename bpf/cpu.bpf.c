/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU time: on each tick of the sampling timer, where the running task is.
 */
#include "bpf/unwind_entry.bpf.h"

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
static __always_inline void count_missed(u32 at, u64 now)
{
	u32 zero = 0;
	u64 *last = bpf_map_lookup_elem(&last_tick, &zero);
	u64 periods;

	if (!last)
		return;
	if (timer_is_clock && *last) {
		periods = (now - *last + period_ns / 2) / period_ns;
		if (periods > 1)
			count(at, COUNTER_ticks_missed, periods - 1);
	}
	*last = now;
}

static __always_inline u64 walk_kernel(struct bpf_perf_event_data *ctx, u32 at)
{
	struct scratch *scratch = scratch_get(at);
	long bytes;

	if (!scratch)
		return STACK_LOST;
	bytes = bpf_get_stack(ctx, scratch->frames, MAX_KERNEL_FRAMES * sizeof(u64), 0);
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
	return walk_user_of_entry(at);
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	u64 now = bpf_ktime_get_ns();
	u32 at = lane_enter(LANE_TICK, now);
	u64 kernel_stack = STACK_NONE, user_stack;

	if (at == LANE_BUSY)
		return 0;
	count(at, COUNTER_ticks, 1);
	count_missed(at, now);
	if (bpf_get_current_pid_tgid() == 0) {
		count(at, COUNTER_idle, 1);
	} else {
		if (!REGS_USER(&ctx->regs))
			kernel_stack = walk_kernel(ctx, at);
		user_stack = walk_user(ctx, at);
		tally_add(at, KIND_cpu, kernel_stack, user_stack, period_ns);
	}
	lane_leave(at);
	return 0;
}
