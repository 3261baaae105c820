/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types shared by the BPF programs and the daemon: fixed-width types, no padding, sizes asserted.
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
	/* Timers of each CPU that run by the clock. A timer's cookie is its number plus CPU_TIMERS
	 * times its period in nanoseconds. A timer that runs by cycles has period 0. */
	CPU_TIMERS = 8,
};

/* Values that are no hash of a stack's contents. All other stack ids are hashes. */
enum { STACK_NONE = 0, STACK_LOST = 1, STACK_FIRST = 2 };

/*
 * A stack is a chain of nodes from its leaf to its root. It is divided into nodes from the root
 * end, so stacks that share their outer frames share nodes; only the leaf's node may be partly
 * filled. A node's key in the map is the hash of its contents, the parent's key included.
 */
struct stack_node {
	u64 parent; /* key of the node that holds the callers, STACK_NONE at the root */
	u64 len;
	/* Leaf first. Each is an address within the frame's instruction; for a caller, the last
	 * byte of its call instruction. A value that is the number of a WALK_CUTS counter is no
	 * address: the stack was truncated there, and the counter says why. */
	u64 frames[NODE_FRAMES];
};
_Static_assert(sizeof(struct stack_node) == 144, "shared layout");

/* Key of a tally: the thread, what it did, and its stacks. */
struct tally_key {
	u64 kernel_stack, user_stack; /* keys of leaf nodes, or STACK_NONE, STACK_LOST */
	u32 pid, tid;
	u32 image; /* changes with each exec and reuse of a pid: keeps programs apart */
	u16 kind;
	u8 gil;    /* enum python_gil */
	u8 detail; /* rss: enum resident_kind; fault: 1 if major; offcpu: state and call; block:
	            enum block_operation */
	char thread[TASK_COMM_BYTES];
	union {
		u64 futex;  /* offcpu: the address of the futex that is waited for, or 0 */
		u64 device; /* block: its number, as in the kernel */
	};
};
_Static_assert(sizeof(struct tally_key) == 56, "shared layout");

/* The `what` argument of tally_add() is the kind, with the detail above this bit. */
enum { KIND_DETAIL_SHIFT = 16 };

/* Kinds of resident memory, with the kernel's own numbers. */
enum resident_kind { RESIDENT_FILE = 0, RESIDENT_ANON = 1, RESIDENT_SHARED = 3 };

#define WAIT(id, name, about) WAIT_##id,
/* Why a thread is not on a CPU. */
enum wait_state { WAIT_STATES(WAIT) };
/* The system call in which a thread waits; daemon/wait/offcpu.c has their numbers. */
enum wait_call { WAIT_CALLS(WAIT) WAIT_CALL_COUNT };
#undef WAIT

/* The detail of a wait's tally: its state, and its call above this bit. */
enum { WAIT_CALL_SHIFT = 2, WAIT_SYSCALLS = 512 };
#define WAIT_STATE_OF(detail) ((detail) & ((1 << WAIT_CALL_SHIFT) - 1))

/* What the samples with one key add up to. */
struct tally {
	u64 count;   /* samples; of waits, how many these samples stand for */
	u64 value;   /* cpu, offcpu, waker: nanoseconds; rss, mmap, block: bytes */
	u64 last_ns; /* CLOCK_MONOTONIC of the latest sample: tells which program had the pid */
	/* The scheduler's account of the thread, which tells for how long all its samples stand. */
	union {
		/* cpu: run time at the thread's first and at its latest sample. */
		struct {
			u64 first_ran_ns, ran_ns;
		};
		/* offcpu: for how long the thread had not run, up to its latest sample, and for how
		 * long of that it had wanted a CPU. 0: not known. Both count from some time on. */
		struct {
			u64 waited_ns, delayed_ns;
		};
		/* block: the sum of the time that the requests took. */
		u64 took_ns;
	};
	u32 user; /* the thread's user at the first sample, in the initial user namespace */
	/* offcpu: the lower bits of how often the scheduler had switched away from the thread, up
	 * to its latest sample. */
	u32 switches;
};
_Static_assert(sizeof(struct tally) == 48, "shared layout");

/* Record that the iterator of bpf/ran.bpf.c writes for each thread that ran lately. */
struct thread_ran {
	u32 tid, unused;
	u64 ran_ns; /* since the thread began, as of the scheduler's latest update */
};
_Static_assert(sizeof(struct thread_ran) == 16, "shared layout");

struct counters {
	u64 values[COUNTER_COUNT];
	u64 taking_ns; /* time for which lanes were held: what taking samples cost */
};

/*
 * Programs that may walk on the same CPU at the same time: the timer interrupts the others, and a
 * task in which a probe runs may be preempted by another task. Whatever a walk needs for itself
 * exists once for each lane of each CPU.
 */
enum walk_lane {
	LANE_TICK,     /* the sampling timer */
	LANE_RESIDENT, /* memory that becomes resident, also while a probe runs */
	LANE_PROBE,    /* system calls and functions of user space */
	LANE_WAIT,     /* the scheduler switches to another task */
	LANE_EVE,      /* a flip is about to take place */
	LANE_WAKE,     /* a thread is woken or a disk request is complete, also in an interrupt */
	LANES,
	MAX_LANES = 8,
};

/* `at` says where a program works: bit 0 is the half, the bits above are the lane. AT_SHARED, above
 * all lanes, is for programs that walk nothing and need no lane. */
enum { LANE_SHIFT = 1, AT_SHARED = LANES << LANE_SHIFT, AT_COUNT = (LANES + 1) << LANE_SHIFT };

/* State of a lane. */
enum {
	BUSY_NOT,
	BUSY_STARTING, /* the program has not read yet which half is active */
	BUSY_HALF,     /* + the half that the program writes to */
};

/* Key of the hash in bpf/hash.h. */
struct hash_key {
	u64 start;
	u64 factor; /* odd; else the upper bits of a word would not count */
};

/* Users of the initial user namespace that form one account: daemon/base/accounts.h. */
struct account_range {
	u32 first, last, account;
};

/*
 * Bounds on the entries of a half's tallies and stack nodes that samples other than CPU time may
 * take. The other entries are reserved for the timer: eight nodes for each tick of two seconds. The
 * sizes are set before load; the daemon resets the number of entries taken to 0 when it has drained
 * the half. Programs on several CPUs may take a few more: the maps have room for one more entry for
 * each lane of each CPU.
 */
struct others_room {
	u32 tallies, stacks;
};

/* Places in which accounts are counted: bpf/user.bpf.h. */
enum { ACCOUNT_PLACES = 256 };

/* Entries taken of a half's room: in all, and by each account since a quarter of the room was
 * taken. The daemon resets these numbers to 0 when it has drained the half. */
struct taken {
	u32 all, of[ACCOUNT_PLACES];
};
_Static_assert(sizeof(struct taken) == 1028, "shared layout");

/* One a CPU, a cache line each. */
struct cpu_busy {
	u64 busy[MAX_LANES]; /* by enum walk_lane; BUSY_SHARED: number of programs without a lane */
};
enum { BUSY_SHARED = MAX_LANES - 1 };
_Static_assert(sizeof(struct cpu_busy) == 64, "shared layout");

/* Counts calls of one row of bpf/gpu.h. A row is lent a slot, and only the thread that owns the row
 * counts in it. Slot 0 means none: its `due` is always 0. */
struct gpu_slot {
	u64 count, value; /* as of struct gpu_call */
	u64 due;          /* calls that may be counted here before the next one is walked */
};
enum { GPU_SLOTS = 4096 }; /* per half */
