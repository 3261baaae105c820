/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Page faults, by the kernel's software events. An event of a CPU calls the program after a fixed
 * number of faults. Of these calls some are samples, at random, and fewer in a storm: each sample
 * stands for all faults of its kind on the CPU since the sample before.
 */
#include "bpf/pace.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

struct faults_here {
	u64 pending; /* in no sample yet */
	struct pace pace;
};

/* Of minor and of major faults. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct faults_here);
	__uint(max_entries, 2);
} fault_counts SEC(".maps");

static __always_inline void take_sample(struct bpf_perf_event_data *ctx, u32 at, u32 is_major,
                                        u64 faults)
{
	u64 kernel_stack = STACK_NONE, user_stack;

	if (REGS_USER(&ctx->regs)) {
		user_stack = walk_user_of(at, &ctx->regs);
	} else {
		kernel_stack = walk_kernel(ctx, at);
		user_stack = unwind_entry(at);
	}
	tally_add(at, KIND_fault | is_major << KIND_DETAIL_SHIFT, kernel_stack, user_stack, faults);
}

SEC("perf_event")
int fault_sample(struct bpf_perf_event_data *ctx)
{
	u32 is_major = bpf_get_attach_cookie(ctx) & 1, at;
	struct faults_here *here = bpf_map_lookup_elem(&fault_counts, &is_major);
	u64 now, faults;

	if (!here)
		return 0;
	if (!here->pace.step)
		here->pace = pace_new(ctx->sample_period);
	here->pending += ctx->sample_period;
	if (here->pending < here->pace.due)
		return 0;
	now = bpf_ktime_get_ns();
	at = lane_enter(LANE_RESIDENT, now);
	/* The sample stays due, and the next call takes it. */
	if (at == LANE_BUSY)
		return 0;
	faults = here->pending;
	here->pending = 0;
	pace_next(&here->pace, now, ctx->sample_period);
	take_sample(ctx, at, is_major, faults);
	lane_leave(at);
	return 0;
}
