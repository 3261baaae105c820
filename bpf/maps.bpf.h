/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every shared map and variable, declared once; maps.bpf.c defines them. What is drained exists in
 * two halves: programs write to the active half, the daemon flips it, waits until no CPU is busy
 * with the old one, and reads that at leisure.
 */
#pragma once

#include "bpf/abi.h"

#include <bpf/bpf_helpers.h>

struct stack_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, u64);
	__type(value, struct stack_node);
	__uint(max_entries, 1); /* sized by the daemon before load */
};

struct tally_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct tally_key);
	__type(value, struct tally);
	__uint(max_entries, 1); /* sized by the daemon before load */
};

struct counter_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct counters);
	__uint(max_entries, HALVES);
};

/* Room to walk in: too large for the 512 bytes of a BPF stack. */
struct scratch {
	u64 frames[MAX_USER_FRAMES]; /* leaf first */
	u64 page[512];               /* a page of the walked stack */
	struct stack_node node;
};

struct scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct scratch);
	__uint(max_entries, 1);
};

/* Hash maps are preallocated: before Linux 6.1 nothing else is safe in a perf_event program. */
extern struct stack_map stacks_0 SEC(".maps"), stacks_1 SEC(".maps");
extern struct tally_map tallies_0 SEC(".maps"), tallies_1 SEC(".maps");
extern struct counter_map counters SEC(".maps");
extern struct scratch_map scratches SEC(".maps");

/* When which half becomes the active one: CLOCK_MONOTONIC nanoseconds << 1 | half. Before that
 * moment it is the other one, so a boundary is exact however late the daemon wakes. */
extern u64 flip;
extern struct cpu_busy cpus[MAX_CPUS];

static __always_inline struct scratch *scratch_get(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

static __always_inline void count(u32 half, enum counter counter, u64 by)
{
	struct counters *mine = bpf_map_lookup_elem(&counters, &half);

	if (mine)
		mine->values[counter] += by;
}

/*
 * The half this CPU writes to until half_release(). The exchange is a full barrier: either the
 * daemon sees this CPU busy, or this CPU sees the daemon's flip.
 */
static __always_inline u32 half_acquire(u64 now)
{
	u32 cpu = bpf_get_smp_processor_id() & (MAX_CPUS - 1);
	u64 planned;
	u32 half;

	__sync_lock_test_and_set(&cpus[cpu].busy, BUSY_STARTING);
	planned = *(volatile u64 *)&flip;
	half = (planned ^ (now < planned >> 1)) & 1;
	__sync_lock_test_and_set(&cpus[cpu].busy, BUSY_HALF + half);
	return half;
}

static __always_inline void half_release(void)
{
	u32 cpu = bpf_get_smp_processor_id() & (MAX_CPUS - 1);

	__sync_lock_test_and_set(&cpus[cpu].busy, BUSY_NOT);
}
