/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the programs that watch memory grow have in common: beside the pace of each process there is
 * one of all processes of the host, so that a storm of short ones costs no more than one that
 * lives long: a burst of 2000, and then 400 samples a second. Whose samples find that used up has a
 * pace of his own, a sixteenth of it, which no storm of others takes.
 */
#pragma once

#include "bpf/maps.bpf.h"
#include "bpf/pace.bpf.h"
#include "bpf/user.bpf.h"

/* A sample of a kind is earned in so long on each CPU, and so many are saved up. The more CPUs, the
 * slower: stacks are walked where the kernel holds a lock of the host's memory. Set before load. */
extern const volatile u64 growth_ns;
extern const volatile u32 growth_burst;

enum growth_kind { GROWTH_RESIDENT, GROWTH_MAPPED, GROWTH_KINDS };

enum {
	GROWTH_OWN = 16,       /* an account's pace is so much slower */
	GROWTH_OWN_BURST = 16, /* of that */
};

/* Each as of a moment: that of the last sample, less what was saved up then. */
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

/* Whether there is a sample that was earned in `step_ns`; then it is spent. */
static __always_inline int growth_spend(u64 *spent_ns, u64 step_ns, u32 burst, u64 now)
{
	const u64 saved_ns = step_ns * burst;

	if (*spent_ns + saved_ns < now)
		*spent_ns = now - saved_ns;
	if (*spent_ns + step_ns > now)
		return 0;
	*spent_ns += step_ns;
	return 1;
}

/* Whether one more sample may be taken on this CPU; then it is counted. */
static __always_inline int growth_allows(u32 kind, u64 now)
{
	struct growth_pace *pace = bpf_map_lookup_elem(&growth_paces, &kind);
	u32 place;

	if (!pace)
		return 0;
	if (growth_spend(&pace->spent_ns, growth_ns, growth_burst, now))
		return 1;
	place = user_place();
	barrier_var(place); /* or the compiler sees what the verifier does not */
	return growth_spend(&pace->own_ns[place & (ACCOUNT_PLACES - 1)], growth_ns * GROWTH_OWN,
	                    GROWTH_OWN_BURST, now);
}

extern u32 resident_is_watched; /* set when the programs are attached */

/* The timer found the current task in a page fault: what its process has grown by since the last
 * sample is this stack's, where a sample is due. `at` is the timer's lane. */
u32 resident_tick(u32 at, u64 user_stack);
