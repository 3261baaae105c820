/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An exec replaces all mappings of a process at one moment, and a process that ends leaves its pid
 * to another. What the walker knew of the process is withdrawn here, at that moment. Until the
 * daemon knows the new program, its stacks are walked by frame pointers rather than by another
 * program's tables, and no Python frames are read at addresses that hold for another program's
 * CPython.
 */
#include "bpf/slots.bpf.h"
#include "bpf/wake.bpf.h"

#include <bpf/bpf_core_read.h>

/* The time is written first and the slot cleared second, with the barrier of the exchange
 * between them: whatever the daemon publishes meanwhile, either the daemon or this program takes
 * it back. */
static __always_inline void withdraw(u32 pid, u64 *slot)
{
	u32 at = pid & (EXEC_TIMES - 1);
	u64 *time = bpf_map_lookup_elem(&unwind_execs, &at);

	if (time)
		__sync_lock_test_and_set(time, bpf_ktime_get_ns());
	if (slot)
		__sync_lock_test_and_set(slot, 0);
}

SEC("raw_tp/sched_process_exec")
int process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	u64 value;

	withdraw(pid, slot_of(pid, &value));
	wake_daemon();
	return 0;
}

/* Withdraws a process when its last thread exits. */
SEC("raw_tp/sched_process_exit")
int process_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	u64 value, *slot = slot_of(pid, &value);

	if (slot && BPF_CORE_READ(task, signal, live.counter) == 0)
		withdraw(pid, slot);
	return 0;
}
