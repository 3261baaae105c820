/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the programs that watch memory grow. Beside the pace of each process there is one pace
 * for all processes of the host, so that a storm of short-lived processes costs no more than one
 * that lives long: a burst of 2000 samples, and then 400 a second. A user whose samples find that
 * used up has a pace for that user alone, a sixteenth of it, which no storm of other users can use
 * up.
 */
#pragma once

#include "bpf/maps.bpf.h"
#include "bpf/pace.bpf.h"
#include "bpf/user.bpf.h"

/* Each CPU earns one sample of a kind in `growth_ns` and saves up to `growth_burst` of them. The
 * more CPUs, the slower: stacks are walked where the kernel holds a lock of the host's memory. Set
 * before load. */
extern const volatile u64 growth_ns;
extern const volatile u32 growth_burst;

enum growth_kind { GROWTH_RESIDENT, GROWTH_MAPPED, GROWTH_KINDS };

enum {
	GROWTH_OWN = 16,       /* an account's pace is slower by this factor */
	GROWTH_OWN_BURST = 16, /* samples of that pace that are saved up */
	GROWTH_MOST = 64,
};

/* Each is the time up to which earned samples are spent. It lags behind the clock by what is saved
 * up. */
struct growth_pace {
	u64 spent_ns;
	u64 own_ns[ACCOUNT_PLACES];
};

struct growth_pace_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct growth_pace);
	__uint(max_entries, GROWTH_KINDS);
};

extern struct growth_pace_map growth_paces SEC(".maps");

/* Whether one more sample may be taken on this CPU; if so, counts it. */
static __always_inline int growth_allows(u32 kind, u64 now)
{
	struct growth_pace *pace = bpf_map_lookup_elem(&growth_paces, &kind);
	u32 place;

	if (!pace)
		return 0;
	if (pace_spend(&pace->spent_ns, growth_ns, growth_burst, now))
		return 1;
	place = user_place();
	barrier_var(place); /* or the compiler leaves out the mask, which the verifier needs */
	return pace_spend(&pace->own_ns[place & (ACCOUNT_PLACES - 1)], growth_ns * GROWTH_OWN,
	                  GROWTH_OWN_BURST, now);
}

/* A walk that took long counts as many samples as would have fitted into that time: a program can
 * make its stacks slow to walk, and here the kernel may hold a lock that all processes need. */
static __always_inline void growth_charge(u32 kind, u64 took_ns)
{
	struct growth_pace *pace = bpf_map_lookup_elem(&growth_paces, &kind);
	u64 more = took_ns / PACE_WALK_NS;
	u32 place;

	if (!pace || !more)
		return;
	if (more > GROWTH_MOST)
		more = GROWTH_MOST;
	pace->spent_ns += more * growth_ns;
	place = user_place();
	barrier_var(place);
	pace->own_ns[place & (ACCOUNT_PLACES - 1)] += more * growth_ns * GROWTH_OWN;
}

extern u32 resident_is_watched; /* set when the programs are attached */

/* Called when the timer finds the current task in a page fault. Where a sample is due, the growth
 * of the process since its last sample is attributed to this stack. `at` is the timer's lane. */
u32 resident_tick(u32 at, u64 user_stack);
