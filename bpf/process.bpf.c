/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process that calls exec has other mappings from one moment to the next. What the walker knew of
 * it is withdrawn here, at that moment, and until the daemon knows the new program its stacks are
 * walked by frame pointers rather than by another program's tables.
 */
#include "bpf/slots.bpf.h"
#include "bpf/wake.bpf.h"

SEC("raw_tp/sched_process_exec")
int process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	u32 at = pid & (EXEC_TIMES - 1);
	u64 *time = bpf_map_lookup_elem(&unwind_execs, &at);
	u64 value, *slot = slot_of(pid, &value);

	/* In this order, with the barrier of the exchange between: whatever the daemon publishes
	 * meanwhile, it or we take it back. */
	if (time)
		__sync_lock_test_and_set(time, bpf_ktime_get_ns());
	if (slot)
		__sync_lock_test_and_set(slot, 0);
	wake_daemon();
	return 0;
}
