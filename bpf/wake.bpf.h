/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waking the daemon. Records about processes go to perf ring buffers, which do not wake the daemon
 * for each record: that would be an interrupt each. The daemon reads them now and then. It reads at
 * once when a BPF program meets what the daemon should hear of: an exec, or code that the daemon
 * has not described to the walker. Each time the daemon sets `wake_armed`, the first such program
 * wakes it; for the others the check costs one load.
 */
#pragma once

#include "bpf/abi.h"

#include <bpf/bpf_helpers.h>

enum { WAKE_RING_BYTES = 4096 };

struct wake_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, WAKE_RING_BYTES);
};

extern struct wake_map wakes
	SEC(".maps"); /* the records carry no data; only their arrival counts */
extern u64 wake_armed;

static __always_inline void wake_daemon(void)
{
	u64 nothing = 0;

	if (!*(volatile u64 *)&wake_armed || !__sync_lock_test_and_set(&wake_armed, 0))
		return;
	bpf_ringbuf_output(&wakes, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP);
}
