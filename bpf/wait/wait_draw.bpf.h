/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which waits are sampled. That is decided when they begin, so their length has no part in it. Each
 * sample stands for as many waits as the inverse of its probability. A thread that waits up to 50
 * times a second has all its waits sampled. With more, the probability falls; it is 1 again when
 * samples were seldom for a while. Where a CPU or an account takes more samples than its pace
 * allows, further samples are drawn by lot, and those that remain stand for more waits.
 */
#pragma once

#include "bpf/hash.bpf.h"
#include "bpf/heap.h"
#include "bpf/pace.bpf.h"
#include "bpf/user.bpf.h"
#include "bpf/wait.h"

/* How often waits are sampled. Threads that share a seat share a probability, which does no harm:
 * each sample has the weight by which it was drawn. */
struct wait_seat {
	u64 spent_ns; /* the time up to which earned samples are spent, by rq.clock */
	u32 left;     /* waits until the next sample; 0: not drawn yet */
	u32 gap;      /* the inverse of the probability, where not all waits are sampled */
	u32 open;     /* sampled waits under way */
	u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct wait_seat);
	__uint(max_entries, WAIT_SEATS);
} wait_seats SEC(".maps");

/* Samples taken in a window, and the probability of a further one as a power of two. */
struct wait_rate {
	u32 window;
	u16 taken, halvings;
};

struct wait_pace {
	struct wait_rate all, of[ACCOUNT_PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct wait_pace);
	__uint(max_entries, 1);
} wait_paces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct taken);
	__uint(max_entries, 1);
} wait_taken SEC(".maps");

enum {
	STEP_NS = 20 * 1000 * 1000,
	SAVED_NS = 1000 * 1000 * 1000,
	DEBT_NS = 500 * 1000 * 1000,
	GAP_STEP = 4,
	MAX_GAP = 1024,
	WINDOW_SHIFT = 27, /* a window is 134 ms */
	PACE_OF_CPU = 48,  /* samples of a window */
	PACE_OF_ACCOUNT = 32,
	MAX_HALVINGS = 16,
	SELDOM_HALVINGS = 2, /* so many fewer for threads that wait seldom */
};

static __always_inline struct wait_seat *seat_for(u64 who)
{
	u32 at = mix(hash_key.start, who) & (WAIT_SEATS - 1);

	return bpf_map_lookup_elem(&wait_seats, &at);
}

/* The number of waits from this one on until one is sampled, if each has a chance of 1 in `gap`. A
 * geometric distribution is an exponential one rounded up, whose mean is a little less than half
 * below `gap`. */
static __always_inline u32 draw_gap(u32 gap)
{
	return 1 +
	       (u32)(heap_draw(bpf_get_prandom_u32(), (u64)gap * 1024 - 512 - 1024 / (12 * gap)) >>
	             10);
}

/* Whether the wait that begins is sampled as far as its seat is concerned; if so, with which
 * weight. A seat earns one sample in STEP_NS, and saves some up: while it has samples left, all
 * waits are sampled. */
static __always_inline u32 seat_draws(struct wait_seat *seat, u64 now)
{
	u32 gap = seat->gap ?: GAP_STEP;

	if (pace_spend(&seat->spent_ns, STEP_NS, SAVED_NS / STEP_NS, now))
		return 1;
	if (!seat->left)
		seat->left = draw_gap(gap);
	if (seat->left > 1) {
		seat->left--;
		return 0;
	}
	seat->gap = gap;
	if (seat->spent_ns > now + DEBT_NS)
		seat->gap = gap < MAX_GAP ? gap * GAP_STEP : gap;
	else {
		seat->spent_ns += STEP_NS;
		if (seat->spent_ns < now + DEBT_NS / 2 && gap > GAP_STEP)
			seat->gap = gap / GAP_STEP;
	}
	seat->left = draw_gap(seat->gap);
	return gap;
}

/* The probability changes with what was taken before only. */
static __always_inline u32 rate_halvings(struct wait_rate *rate, u32 window, u32 pace)
{
	if (rate->window != window) {
		u32 passed = window - rate->window - 1;

		if (rate->taken < pace / 4)
			passed++;
		rate->halvings -= passed < rate->halvings ? passed : rate->halvings;
		rate->window = window;
		rate->taken = 0;
	} else if (rate->taken >= pace) {
		rate->halvings += rate->halvings < MAX_HALVINGS;
		rate->taken = 0;
	}
	return rate->halvings;
}

/* By how much the weight grows; 0: the sample is not taken. */
static __always_inline u64 pace_draws(u64 now, u32 place, int is_seldom)
{
	const struct taken *open;
	u32 zero = 0, window = now >> WINDOW_SHIFT, halvings;
	struct wait_pace *pace = bpf_map_lookup_elem(&wait_paces, &zero);
	struct wait_rate *own;

	open = bpf_map_lookup_elem(&wait_taken, &zero);
	if (!pace || !open)
		return 0;
	barrier_var(place);
	own = &pace->of[place & (ACCOUNT_PLACES - 1)];
	/* The more waits of the account are under way, the fewer begin to be sampled, so that there
	 * is always room. */
	halvings = open->of[place & (ACCOUNT_PLACES - 1)] / (WAITS_OPEN / 16) +
	           rate_halvings(&pace->all, window, PACE_OF_CPU) +
	           rate_halvings(own, window, PACE_OF_ACCOUNT);
	if (is_seldom)
		halvings -= halvings < SELDOM_HALVINGS ? halvings : SELDOM_HALVINGS;
	if (halvings > MAX_HALVINGS)
		halvings = MAX_HALVINGS;
	if (bpf_get_prandom_u32() & ((1u << halvings) - 1))
		return 0;
	pace->all.taken++;
	own->taken++;
	return 1ull << halvings;
}
