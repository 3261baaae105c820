/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the BPF programs and the daemon know of heap profiles: which processes are watched, what a
 * probed function does, what is sent for a sampled allocation, and how the next sample is drawn.
 */
#pragma once

#include "bpf/abi.h"

enum {
	HEAP_SESSIONS = 4,
	HEAP_SLOT_PRICE = HEAP_SESSIONS, /* for measuring the cost of a hit */
	HEAP_SLOT_STANDING,              /* for processes that report their own allocations */
	HEAP_SLOTS,
	HEAP_NO_ARGUMENT = 0xff,
	HEAP_RANGES = 4,
	HEAP_LIVE = 256 * 1024,     /* live sampled allocations, all sessions together */
	HEAP_EVENT_BYTES = 8 << 20, /* of the ring buffer; an event takes some 300 bytes */
};

/* Above any sensible rate; the numbers drawn stay below 2^40. */
static const u64 heap_max_rate = 1ULL << 34;

enum heap_does {
	HEAP_DOES_ALLOCATE,     /* returns the address, or 0 */
	HEAP_DOES_ALLOCATE_OUT, /* writes the address to where `pointer` points, and returns 0 */
	HEAP_DOES_REALLOCATE,   /* reallocates `pointer`; 0: it failed, unless the size is 0 */
	HEAP_DOES_FREE,
	HEAP_DOES_MAP,   /* returns the address, or -1; counts if the arguments ask for memory */
	HEAP_DOES_REMAP, /* remaps `pointer`, if that is live; -1: it failed */
};

enum heap_site_flags {
	/* Its return is always seen. It may call other probed functions, whose calls then do not
	 * count. */
	HEAP_SITE_NESTS = 1,
	/* An exception may leave it: it is probed at its return instructions, not by a return
	 * probe. */
	HEAP_SITE_THROWS = 2,
	HEAP_SITE_STEPPED = 4, /* the instruction under the probe is executed in single step */
	HEAP_SITE_RETURNS = 8, /* each call costs a return probe */
};

/* A probe's cookie, which says where the probe is. Arguments are given by number, or
 * HEAP_NO_ARGUMENT. */
union heap_site_cookie {
	struct {
		u8 slot;
		u8 does; /* enum heap_does */
		u8 size, times, pointer;
		u8 pushed; /* bytes by which the stack pointer is below its value at the first byte
		            */
		u8 flags;  /* enum heap_site_flags */
		u8 number; /* distinguishes functions that do the same */
	};
	u64 cookie;
};
_Static_assert(sizeof(union heap_site_cookie) == sizeof(u64), "a cookie is a word");

/* A watched process; value of the array heap_targets by slot. */
struct heap_target {
	u32 pid;    /* 0: no process, whatever probes are still attached */
	u32 serial; /* of the session: never 0 and never reused */
	u64 rate;   /* mean bytes between two samples */
	u64 live;   /* number of live sampled addresses; the BPF programs count it */
	/* Code of allocators and of libc: memory that these map is what malloc() returns later, and
	 * does not count. */
	struct heap_range {
		u64 start, end;
	} allocators[HEAP_RANGES];
};

/* Counts of hits, and of samples that were lost. */
#define HEAP_COUNTS(COUNT)                                                                       \
	COUNT(emulated, "hits on an instruction that the kernel emulates")                       \
	COUNT(stepped, "hits on an instruction that the kernel executes in single step")         \
	COUNT(returns, "hits that were followed by a hit of the return probe")                   \
	COUNT(lost, "samples lost because the ring buffer was full")                             \
	COUNT(over_share, "samples lost because their user's share of the ring buffer was full") \
	COUNT(full, "samples lost because the map of addresses was full")                        \
	COUNT(busy, "samples lost because the CPU was taking another one")                       \
	COUNT(pending, "samples lost because the return of the call was not seen")

/* One for each slot and CPU; the counts only grow. */
struct heap_counts {
#define COUNT(name, help) u64 name;
	HEAP_COUNTS(COUNT)
#undef COUNT
};

struct heap_cpu {
	struct heap_counts counts;
	u64 remaining; /* bytes until the next sample */
	u64 serial;    /* the session for which `remaining` was drawn */
};

enum heap_event_kind {
	HEAP_EVENT_ALLOC = 1,
	HEAP_EVENT_FREE,
	HEAP_EVENT_EXEC, /* the process calls exec: all its allocations are gone */
};

/* A record of the ring buffer heap_events. Records of one address come in the order of the events,
 * with one exception: the free of a realloc's old address is sent at the end of the realloc, with
 * the time of its beginning. */
struct heap_event {
	u32 serial; /* of the session; 0: none, the process samples its own allocations */
	u16 kind;
	u16 words;   /* of the stack that follows; bpf/words.h describes words */
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 address;
	u64 size;   /* asked for */
	u64 weight; /* in bytes, from a process that samples itself; 0: computed from the size */
	u32 pid, tid;
};
_Static_assert(sizeof(struct heap_event) == 48, "shared layout");

/* log2(x) * 2^24 for x of 1 to 2^32, to 24 bits behind the point: by squaring, a bit at a time. The
 * loop has no branches, because the verifier would check each path. */
static inline u32 heap_log2(u64 x)
{
	u32 log = 0;

	for (u32 bit = 32; bit; bit /= 2) {
		if (log + bit <= 32 && x >> (log + bit))
			log += bit;
	}
	x = x << 31 >> log;
	log <<= 24;
	for (u32 bit = 1u << 23; bit; bit /= 2) {
		u32 carry;

		x = x * x >> 31;
		carry = x >> 32;
		x >>= carry;
		log |= bit * carry;
	}
	return log;
}

/*
 * Draws how many bytes pass until the next sample: exponentially distributed, so that every byte
 * has the same chance whatever was sampled before it. Rounding down is exact: an allocation that
 * contains the drawn point is larger than what is left before it.
 */
static inline u64 heap_draw(u32 random, u64 rate)
{
	u64 bits = (32u << 24) - heap_log2((u64)random + 1);
	u64 nats = bits * 11629080 >> 24; /* times ln 2 */

	return nats * rate >> 24;
}
