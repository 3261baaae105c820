/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Late ticks: what a program that runs at sched_switch does about them. See bpf/cpu.bpf.c.
 */
#pragma once

#include "bpf/rq.bpf.h"

/* State of one CPU. Only interrupts and code that runs with interrupts off use it, so no access to
 * it is interrupted by another one. */
struct ticker {
	u64 first_due;             /* the earliest of `due` below, or 1: find_first_due() */
	u64 period[CPU_TIMERS];    /* from one tick of a timer to the next */
	u64 due[CPU_TIMERS];       /* CLOCK_MONOTONIC; 0 until the timer's first tick */
	u64 very_late[CPU_TIMERS]; /* consecutive very late ticks */
	s64 streak[CPU_TIMERS];    /* consecutive late ticks; negative: consecutive early ticks */
	/* When ticks were due that the task after the idle task owes; 0: none. One for each timer,
	 * and one for the undecided tick. */
	u64 owed[CPU_TIMERS + 1];
	u64 behind;    /* how far rq.clock is behind CLOCK_MONOTONIC, at least; 0: not known */
	u64 undecided; /* due time of a tick that found the idle task about to be left; 0: none */
};

struct ticker_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct ticker);
	__uint(max_entries, 1);
};

extern struct ticker_map tickers SEC(".maps");

static __always_inline struct ticker *ticker_get(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&tickers, &zero);
}

/* Whether late ticks are taken at switches. Set by the daemon. */
extern u32 switches_are_watched;

/* Takes the ticks that are due. */
u32 ticks_at_switch(struct bpf_raw_tracepoint_args *ctx);

/* Whether a tick is due. Mostly none is, and that is found by loads alone. */
static __always_inline int ticks_are_due(void)
{
	const struct ticker *ticker = ticker_get();

	return ticker && ticker->first_due &&
	       (!ticker->behind || rq_clock() + ticker->behind >= ticker->first_due);
}
