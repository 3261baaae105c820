/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What both halves know of heap profiles: which processes are watched, what a probed function does,
 * what is told of a sampled allocation, and how the next one to sample is drawn.
 */
#pragma once

#include "bpf/abi.h"

enum {
	HEAP_SESSIONS = 4,
	HEAP_SLOT_PRICE = HEAP_SESSIONS, /* for measuring what a hit costs */
	HEAP_SLOT_STANDING,              /* for what processes tell that sample themselves */
	HEAP_SLOTS,
	HEAP_NO_ARGUMENT = 0xff,
	HEAP_RANGES = 4,
	HEAP_LIVE = 256 * 1024,     /* sampled allocations that are live, all sessions together */
	HEAP_EVENT_BYTES = 8 << 20, /* of the ring buffer; an event has some 300 */
};

/* Above any sensible rate; what is drawn stays below 2^40. */
static const u64 heap_max_rate = 1ULL << 34;

enum heap_does {
	HEAP_DOES_ALLOCATE,     /* returns the address, or 0 */
	HEAP_DOES_ALLOCATE_OUT, /* writes it to where `pointer` points, and returns 0 */
	HEAP_DOES_REALLOCATE,   /* of `pointer`; 0: it failed, unless the size is 0 */
	HEAP_DOES_FREE,
	HEAP_DOES_MAP,   /* returns the address, or -1, if arguments say that it is memory */
	HEAP_DOES_REMAP, /* of `pointer`, if that is live; -1: it failed */
};

enum heap_site_flags {
	/* Its return is always seen: it may call other probed functions, which then do not count.
	 */
	HEAP_SITE_NESTS = 1,
	/* Left by an exception too: probed where it returns, not by a return probe. */
	HEAP_SITE_THROWS = 2,
	HEAP_SITE_STEPPED = 4, /* the instruction under the probe is executed in single step */
	HEAP_SITE_RETURNS = 8, /* each call costs a return probe */
};

/* What a probe knows of where it is: the cookie. Arguments by number, or HEAP_NO_ARGUMENT. */
union heap_site_cookie {
	struct {
		u8 slot;
		u8 does; /* enum heap_does */
		u8 size, times, pointer;
		u8 pushed; /* bytes that the stack pointer is below its place at the first byte */
		u8 flags;  /* enum heap_site_flags */
		u8 number; /* tells functions apart that do the same */
	};
	u64 cookie;
};
_Static_assert(sizeof(union heap_site_cookie) == sizeof(u64), "a cookie is a word");

/* A process that is watched; value of the array heap_targets by slot. */
struct heap_target {
	u32 pid;    /* 0: none, whatever is still attached */
	u32 serial; /* of the session: never 0 and never the same again */
	u64 rate;   /* mean bytes between two samples */
	u64 live;   /* sampled addresses that are; the kernel half counts */
	/* Where the code of allocators and libc is: what these map is what they give by malloc().
	 */
	struct heap_range {
		u64 start, end;
	} allocators[HEAP_RANGES];
};

/* What hits come to, and the samples that were lost. */
#define HEAP_COUNTS(COUNT)                                                  \
	COUNT(emulated, "on an instruction that the kernel emulates")       \
	COUNT(stepped, "on one that it executes in single step")            \
	COUNT(returns, "that were followed by a return probe's")            \
	COUNT(lost, "samples for which the ring buffer had no room")        \
	COUNT(over_share, "samples of users who had told too many already") \
	COUNT(full, "samples for which the table of addresses had no room") \
	COUNT(busy, "samples taken while another was on the same CPU")      \
	COUNT(pending, "samples of calls whose return was not seen")

/* One a slot and CPU, and only ever growing. */
struct heap_counts {
#define COUNT(name, help) u64 name;
	HEAP_COUNTS(COUNT)
#undef COUNT
};

struct heap_cpu {
	struct heap_counts counts;
	u64 remaining; /* bytes until the next sample */
	u64 serial;    /* that they were drawn for */
};

enum heap_event_kind {
	HEAP_EVENT_ALLOC = 1,
	HEAP_EVENT_FREE,
	HEAP_EVENT_EXEC, /* the process calls exec: what was allocated is gone */
};

/* A record of the ring buffer heap_events. Records of one address come in the order in which things
 * happened to it, but for those of a realloc, whose old address is told free at its end with the
 * time of its beginning. */
struct heap_event {
	u32 serial; /* of the session; 0: of none, the process samples itself */
	u16 kind;
	u16 words;   /* of the stack, behind this; bpf/python.h says what words are */
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 address;
	u64 size;   /* asked for */
	u64 weight; /* in bytes, of a process that samples itself; 0: by its size */
	u32 pid, tid;
};
_Static_assert(sizeof(struct heap_event) == 48, "shared layout");

/* log2(x) * 2^24 for x of 1 to 2^32, to 24 bits behind the point: by squaring, a bit at a time.
 * Without branches in the loop, of which the verifier would try every course. */
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
 * How many bytes to let pass until the next sample: exponentially distributed, so that every byte
 * has the same chance whatever was sampled before it. Rounded down, which is exact: an allocation
 * that holds the point drawn is larger than what is left before it.
 */
static inline u64 heap_draw(u32 random, u64 rate)
{
	u64 bits = (32u << 24) - heap_log2((u64)random + 1);
	u64 nats = bits * 11629080 >> 24; /* times ln 2 */

	return nats * rate >> 24;
}
