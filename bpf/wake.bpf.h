/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waking the daemon. What happens to processes is written to perf rings, which wake nobody for a
 * record: that would be an interrupt for each. The daemon reads them now and then, and at once
 * where a program of ours meets what it should hear of: an exec, or code that it has not told the
 * walker about. Each time it says that it may be woken (`wake_armed`), the first such program does
 * so, and the others cost a load.
 */
#pragma once

#include "bpf/abi.h"

#include <bpf/bpf_helpers.h>

enum { WAKE_RING_BYTES = 4096 };

struct wake_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, WAKE_RING_BYTES);
};

extern struct wake_map wakes SEC(".maps"); /* its records say nothing; that there is one does */
extern u64 wake_armed;

static __always_inline void wake_daemon(void)
{
	u64 nothing = 0;

	if (!*(volatile u64 *)&wake_armed || !__sync_lock_test_and_set(&wake_armed, 0))
		return;
	bpf_ringbuf_output(&wakes, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP);
}
