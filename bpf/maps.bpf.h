/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every shared map and variable, declared once; maps.bpf.c defines them. What is drained exists in
 * two halves: programs write to the active half. The daemon flips it, waits until no lane of any
 * CPU is busy with the old half, and then reads the old half undisturbed.
 */
#pragma once

#include "bpf/abi.h"
#include "bpf/unwind_table.h"

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

/* Nodes of stacks that tallies of later halves may need. When it is full, what was used least
 * recently makes room. */
struct kept_stack_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, u64);
	__type(value, struct stack_node);
	__uint(max_entries, 1); /* sized by the daemon before load */
};

struct counter_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct counters);
	__uint(max_entries, AT_COUNT); /* lanes do not wait for each other */
};

/* State of a native walk; bpf/walk/walk.bpf.h. */
struct walk {
	u64 pc; /* an address within the frame's instruction */
	u64 sp, fp;
	u64 page[2];                   /* addresses of the pages in scratch->pages; 0 for none */
	u64 trampoline, pending;       /* bpf/walk/return_probe.bpf.h; 0 where none is pending */
	struct unwind_mapping mapping; /* the mapping found last */
	u32 first, count;              /* the process's run of mappings */
	u32 parent;                    /* whose mappings are used for an unknown process */
	u32 base;                      /* of the table found last */
	u32 leaf;                      /* scratch->regs are this frame's */
	u32 len;
	u32 frames_by_pointer;
	u32 is_news; /* the walk met code that the daemon has not described yet */
	u32 cut;     /* a counter: why it ended, or will if the frame pointer does not help */
};

enum { SCRATCH_FRAMES = 2 * MAX_USER_FRAMES };

/* A native frame of the walk. Its extent ends where the extent of the next one begins. */
struct native_frame {
	u64 pc, sp;
};

/* Memory for a walk: too large for the 512 bytes of a BPF stack. */
struct scratch {
	u64 frames[SCRATCH_FRAMES]; /* leaf first */
	u64 pages[1024];            /* two pages of the stack, by the parity of their number */
	u64 regs[MAX_REGS];         /* of user space, by their DWARF numbers */
	u64 saved[MAX_REGS];        /* of a signal frame, in the kernel's order */
	struct pt_regs entry;       /* user registers saved when the kernel was entered */
	struct walk walk;
	struct stack_node node;
	struct native_frame native[MAX_USER_FRAMES];
	u64 gil;   /* enum python_gil, of the latest walk */
	u64 futex; /* the address of the futex call in which the task is; 0: it is in none */
	struct tally_key key;
	/* For whose account room is taken: a user of the initial user namespace plus 1; 0: the
	 * current task's. */
	u64 user_and_1;
	/* Stack nodes go to kept_stacks, where they outlast the half; how many of them were new. */
	u64 keeps_stacks, kept_nodes;
	/* See struct tally; block: waited_ns is its took_ns. */
	u64 ran_ns, waited_ns, delayed_ns, switches;
	u64 began; /* when the lane was taken */
};

struct scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct scratch);
	__uint(max_entries, LANES);
};

/* The tables of bpf/unwind_table.h: sized before load, filled by the daemon through mmap. */
struct unwind_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(u32));
	__uint(value_size, CHUNK_WORDS * sizeof(u32));
	__uint(max_entries, 1); /* one value, so that a word of it needs no look-up */
};

/* The daemon puts chunks in as tables need them, and takes them out when they are empty. */
struct unwind_chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
	__uint(max_entries, 1);
	__array(values, struct unwind_chunk);
};

struct unwind_table_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_table);
	__uint(max_entries, 1);
};

struct unwind_mapping_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_mapping);
	__uint(max_entries, 1);
};

struct unwind_slot_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, u64);
	__uint(max_entries, 1);
};

/* Hash maps are preallocated: before Linux 6.1 nothing else is safe in a perf_event program. */
extern struct stack_map stacks_0 SEC(".maps"), stacks_1 SEC(".maps");
extern struct kept_stack_map kept_stacks SEC(".maps");
extern struct tally_map tallies_0 SEC(".maps"), tallies_1 SEC(".maps");
extern struct counter_map counters SEC(".maps");
extern struct scratch_map scratches SEC(".maps");
extern struct unwind_chunk_map unwind_chunks SEC(".maps");
extern struct unwind_table_map unwind_tables SEC(".maps");
extern struct unwind_mapping_map unwind_mappings SEC(".maps");
extern struct unwind_slot_map unwind_slots SEC(".maps");

extern struct unwind_slot_map unwind_execs SEC(".maps");

/* Slots of unwind_slots: a power of two. Set before load. */
extern const volatile u32 slot_count;

extern u32 unwind_epoch; /* the value that a walk writes into unwind_table.used */

/* The planned flip: CLOCK_MONOTONIC nanoseconds << 1 | the half that becomes active. Before that
 * time the other half is active, so a boundary is exact however late the daemon wakes. */
extern u64 flip;
extern struct cpu_busy cpus[MAX_CPUS];

/* Set before load. */
extern const volatile struct others_room others_room;
extern struct taken others_tallies[HALVES];

extern const volatile u32 node_room; /* of a half; set before load */
/* Nodes taken: in all, and by samples other than the timer's. */
extern struct taken nodes_taken[HALVES], others_nodes[HALVES];

/* How often a lane was busy, on all CPUs together. Not counted in a half: a program that finds its
 * lane busy has not entered one. */
extern u64 lane_busy;

static __always_inline struct scratch *scratch_get(u32 at)
{
	u32 lane = at >> LANE_SHIFT;

	return bpf_map_lookup_elem(&scratches, &lane);
}

static __always_inline void count(u32 at, enum counter counter, u64 by)
{
	struct counters *mine = bpf_map_lookup_elem(&counters, &at);

	if (mine)
		mine->values[counter] += by;
}

/* The same for a counter that is not a constant. */
static __always_inline void count_by(u32 at, u32 counter, u64 by)
{
	struct counters *mine = bpf_map_lookup_elem(&counters, &at);

	if (mine && counter < COUNTER_COUNT)
		mine->values[counter] += by;
}

static __always_inline void count_at(u32 at, u32 counter)
{
	count_by(at, counter, 1);
}

static __always_inline u64 *lane_of(u32 lane)
{
	u32 cpu = bpf_get_smp_processor_id() & (MAX_CPUS - 1);

	return &cpus[cpu].busy[lane & (MAX_LANES - 1)];
}

enum { LANE_BUSY = AT_COUNT };

/* The half that is active at time `now`. */
static __always_inline u32 half_at(u64 now)
{
	u64 planned = *(volatile u64 *)&flip;

	return (planned ^ (now < planned >> 1)) & 1;
}

/*
 * Takes a lane of this CPU until lane_leave(). Returns `at`, or LANE_BUSY when another program
 * holds the lane; the caller's sample is then lost. The exchange that writes is a full barrier:
 * either the daemon sees the lane busy, or this program sees the daemon's flip. The time from `now`
 * on counts as the cost of the sample. `wanted` is the half to write to, if that cannot be drained
 * meanwhile; HALVES: the active one.
 */
static __always_inline u32 lane_enter_half(enum walk_lane lane, u64 now, u32 wanted)
{
	struct scratch *scratch = scratch_get(lane << LANE_SHIFT);
	u64 *busy = lane_of(lane);
	u32 half;

	if (__sync_val_compare_and_swap(busy, BUSY_NOT, BUSY_STARTING) != BUSY_NOT) {
		__sync_fetch_and_add(&lane_busy, 1);
		return LANE_BUSY;
	}
	half = wanted < HALVES ? wanted : half_at(now);
	__sync_lock_test_and_set(busy, BUSY_HALF + half);
	if (scratch)
		scratch->began = now;
	return lane << LANE_SHIFT | half;
}

static __always_inline u32 lane_enter(enum walk_lane lane, u64 now)
{
	return lane_enter_half(lane, now, HALVES);
}

static __always_inline void lane_leave(u32 at)
{
	struct counters *mine = bpf_map_lookup_elem(&counters, &at);
	struct scratch *scratch = scratch_get(at);

	if (mine && scratch)
		mine->taking_ns += bpf_ktime_get_ns() - scratch->began;
	__sync_lock_test_and_set(lane_of(at >> LANE_SHIFT), BUSY_NOT);
}

/*
 * For programs that need no lane, of which many may work at once: the daemon waits until it has
 * seen each CPU without any of them. The program announces itself before it reads the time, which
 * says which half is active.
 */
static __always_inline u32 shared_enter(u64 *ret_now)
{
	u64 others = __sync_fetch_and_add(lane_of(BUSY_SHARED), 1);

	/* Only an addition whose result is used is a barrier on every architecture. */
	barrier_var(others);
	*ret_now = bpf_ktime_get_ns();
	return AT_SHARED | half_at(*ret_now);
}

/* The latest flip that was seen to have taken place. Until the next one is planned, the active half
 * is known without reading the clock, which takes long. */
struct flip_seen {
	u64 flip;
	u32 turn; /* changes whenever the active half may have changed since the last call */
};

enum { FLIP_NOT_SEEN = -1 };

/* The same for callers that come often and do not need the time. */
static __always_inline u32 shared_enter_again(struct flip_seen *seen)
{
	u64 others = __sync_fetch_and_add(lane_of(BUSY_SHARED), 1);
	u64 planned;
	u32 early = 0;

	barrier_var(others);
	planned = *(volatile u64 *)&flip;
	if (planned != seen->flip) {
		early = bpf_ktime_get_ns() < planned >> 1;
		seen->flip = early ? (u64)FLIP_NOT_SEEN : planned;
		seen->turn++;
	}
	return AT_SHARED | ((planned ^ early) & 1);
}

static __always_inline void shared_leave(void)
{
	u64 others = __sync_fetch_and_add(lane_of(BUSY_SHARED), -1);

	barrier_var(others);
}

/* For programs without a lane, which other programs on the same CPU may interrupt. */
static __always_inline void count_shared_by(u32 at, enum counter counter, u64 by)
{
	struct counters *mine = bpf_map_lookup_elem(&counters, &at);

	if (mine)
		__sync_fetch_and_add(&mine->values[counter], by);
}

static __always_inline void count_shared(u32 at, enum counter counter)
{
	count_shared_by(at, counter, 1);
}
