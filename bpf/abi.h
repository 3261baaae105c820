/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel half and the daemon pass each other: fixed-width types, no padding, sizes
 * asserted.
 *
 * In this project `pid` is a process (the kernel's tgid) and `tid` a thread (the kernel's pid),
 * everywhere.
 */
#pragma once

#if defined(__bpf__) || defined(WALKER_IN_USER_SPACE)
#include "bpf/kernel.bpf.h"
#else
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef int32_t s32;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

#include "bpf/tables.h"

#define COUNTER(name, help) COUNTER_##name,
enum counter { COUNTERS(COUNTER) COUNTER_COUNT };
#undef COUNTER

#define KIND(name, samples, lost) KIND_##name,
enum profile_kind { PROFILE_KINDS(KIND) KIND_COUNT };
#undef KIND

enum {
	HALVES = 2, /* of everything that is drained: one is written while the other is read */
	MAX_CPUS = 1024,
	MAX_USER_FRAMES = 512,
	MAX_KERNEL_FRAMES = 127, /* sysctl kernel.perf_event_max_stack as shipped */
	NODE_FRAMES = 16,
	TASK_COMM_BYTES = 16,
	/* Of each CPU, where timers run by the clock. A timer's cookie is its number, and so many
	 * times the nanoseconds from one of its ticks to its next; 0 where it runs by cycles. */
	CPU_TIMERS = 8,
};

/* Stack ids are hashes of what they stand for, except these. */
enum { STACK_NONE = 0, STACK_LOST = 1, STACK_FIRST = 2 };

/*
 * A stack is a chain of nodes from its leaf to its root. Nodes are cut off from the root end, so
 * stacks that share their outer frames share nodes; only the leaf's node may be partly filled. A
 * node's key in the map is the hash of its contents, the parent's key included.
 */
struct stack_node {
	u64 parent; /* key of the node that holds the callers, STACK_NONE at the root */
	u64 len;
	/* Leaf first. An address within each frame's instruction: of a caller, the call's last
	 * byte. The number of a WALK_CUTS counter is no address: the stack was cut there, and this
	 * says why. */
	u64 frames[NODE_FRAMES];
};
_Static_assert(sizeof(struct stack_node) == 144, "shared layout");

/* Who did what where. */
struct tally_key {
	u64 kernel_stack, user_stack; /* keys of leaf nodes, or STACK_NONE, STACK_LOST */
	u32 pid, tid;
	u32 image; /* changes with each exec and each reuse of a pid, so that two programs never add
	              up */
	u16 kind;
	u8 gil;    /* enum python_gil */
	u8 detail; /* what the kind says further; of rss enum resident_kind */
	char thread[TASK_COMM_BYTES];
};
_Static_assert(sizeof(struct tally_key) == 48, "shared layout");

/* What tally_add() takes as a kind has the detail above it. */
enum { KIND_DETAIL_SHIFT = 16 };

/* Of which kind resident memory is: the kernel's own numbers. */
enum resident_kind { RESIDENT_FILE = 0, RESIDENT_ANON = 1, RESIDENT_SHARED = 3 };

/* Deltas that add up. */
struct tally {
	u64 count;
	u64 value;   /* cpu: nanoseconds; rss, mmap: bytes */
	u64 last_ns; /* CLOCK_MONOTONIC of the latest one: tells which of a pid's programs it was */
	/* cpu: for how long the thread had run at the first and at the latest one, as the scheduler
	 * counts it. */
	u64 first_ran_ns, ran_ns;
	u32 user, unused; /* of the initial user namespace, whose thread it was at the first */
};
_Static_assert(sizeof(struct tally) == 48, "shared layout");

/* What is read of bpf/ran.bpf.c: one for each thread that ran lately. */
struct thread_ran {
	u32 tid, unused;
	u64 ran_ns; /* since it began, as of the scheduler's latest look at it */
};
_Static_assert(sizeof(struct thread_ran) == 16, "shared layout");

struct counters {
	u64 values[COUNTER_COUNT];
	u64 taking_ns; /* how long lanes were held: what samples took, by the clock */
};

/*
 * Programs that walk on the same CPU at the same time: the timer interrupts the others, and what
 * runs for a task may be preempted by another task. What a walk needs for itself exists once for
 * each lane of each CPU.
 */
enum walk_lane {
	LANE_TICK,     /* the sampling timer */
	LANE_RESIDENT, /* memory becoming resident, also inside of what a probe runs in */
	LANE_PROBE,    /* system calls and functions of user space */
	LANES,
	MAX_LANES = 8,
};

/* Where a program works: `at`, bit 0 is the half and the lane is above. Above all lanes is where
 * programs count that walk nothing and need none. */
enum { LANE_SHIFT = 1, AT_SHARED = LANES << LANE_SHIFT, AT_COUNT = (LANES + 1) << LANE_SHIFT };

/* What a lane's program is about to write to. */
enum {
	BUSY_NOT,
	BUSY_STARTING, /* has not looked yet which half is active */
	BUSY_HALF,     /* + the half */
};

/* Of the hash in bpf/hash.h. */
struct hash_key {
	u64 start;
	u64 factor; /* odd, or the upper bits of a word would not count */
};

/* Users of the initial user namespace who are one account: daemon/base/accounts.h. */
struct account_range {
	u32 first, last, account;
};

/*
 * What is not CPU time may take so many entries of a half's tallies and of its stacks, and no more:
 * the others are there for the timer: eight nodes for each tick of two seconds. Sizes are set
 * before load, the daemon sets what was taken to nothing when it has drained the half. Programs on
 * several CPUs may take a few more: the maps have room for one of each lane of each CPU beside.
 */
struct others_room {
	u32 tallies, stacks;
};

/* Places in which accounts are counted: bpf/user.bpf.h. */
enum { ACCOUNT_PLACES = 256 };

/* What is taken of a half's room: all of it, and of each account what it took once a quarter was
 * taken. The daemon sets it to nothing as above. */
struct taken {
	u32 all, of[ACCOUNT_PLACES];
};
_Static_assert(sizeof(struct taken) == 1028, "shared layout");

/* One a CPU, a cache line each. */
struct cpu_busy {
	u64 busy[MAX_LANES]; /* by enum walk_lane; of BUSY_SHARED how many work without a lane */
};
enum { BUSY_SHARED = MAX_LANES - 1 };
_Static_assert(sizeof(struct cpu_busy) == 64, "shared layout");

/* What a row of bpf/gpu.h is lent to be counted in, by whoever knows that it is that row's. In slot
 * 0 nothing is ever due: it stands for none. */
struct gpu_slot {
	u64 count, value; /* as of struct gpu_call */
	u64 due;          /* calls that may be counted here, until the next one that is walked */
};
enum { GPU_SLOTS = 4096 }; /* of a half */
