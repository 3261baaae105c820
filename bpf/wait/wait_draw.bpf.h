/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which waits are sampled. That is decided when they begin, so their length has no part in it. Each
 * sample stands for as many waits as the inverse of its probability. A thread that waits up to 50
 * times a second has all its waits sampled. With more, the same holds of each place in the program
 * that waits, and where one waits more often, its probability falls; it is 1 again when samples
 * were seldom for a while. So a place that waits for long is not lost among those of a storm. Where
 * a CPU or an account takes more samples than its pace allows, further samples are drawn by lot,
 * and those that remain stand for more waits.
 */
#pragma once

#include "bpf/hash.bpf.h"
#include "bpf/heap.h"
#include "bpf/pace.bpf.h"
#include "bpf/user.bpf.h"
#include "bpf/wait.h"

/* How often waits of a thread, or of a place in a thread's program, are sampled. Those that share a
 * seat share a probability, each sample has the weight by which it was drawn.
 */
struct wait_seat {
	u64 spent_ns; /* the time up to which earned samples are spent, by rq.clock */
	u32 left;     /* waits until the next sample; 0: not drawn yet */
	u32 gap;      /* the inverse of the probability, where not all waits are sampled */
	u32 open;     /* of a thread: sampled waits under way */
	u32 unused;
};

struct wait_seat_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct wait_seat);
	__uint(max_entries, WAIT_SEATS);
};

/* What samples have cost in a window, and the probability of a further one as a power of two. */
struct wait_rate {
	u32 window;
	u16 spent, halvings;
};

/* Threads and places that wait seldom have rates of their own, and twice the pace: a sample of
 * theirs may stand for a long wait, which no other sample shows. */
struct wait_pace {
	struct wait_rate all[2], of[ACCOUNT_PLACES][2];
};

struct wait_pace_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct wait_pace);
	__uint(max_entries, 1);
};

struct wait_taken_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct taken);
	__uint(max_entries, 1);
};

/* A program chooses its places, and can take all of their seats; not those of threads. */
extern struct wait_seat_map wait_seats SEC(".maps"), wait_places SEC(".maps");
extern struct wait_pace_map wait_paces SEC(".maps");
extern struct wait_taken_map wait_taken SEC(".maps");

enum {
	STEP_NS = 20 * 1000 * 1000,
	SAVED_NS = 1000 * 1000 * 1000,
	DEBT_NS = 500 * 1000 * 1000,
	GAP_STEP = 4,
	MAX_GAP = 1024,
	WINDOW_SHIFT = 27, /* a window is 134 ms */
	PACE_OF_CPU = 48,  /* what samples may cost in a window: see pace_pay() */
	PACE_OF_ACCOUNT = 32,
	PACE_MOST = 1024,
	MAX_HALVINGS = 16,
};

/* The seat of a thread: `who` is the address of its task_struct. */
static __always_inline struct wait_seat *seat_for(u64 who)
{
	u32 at = mix(hash_key.start, who) & (WAIT_SEATS - 1);

	return bpf_map_lookup_elem(&wait_seats, &at);
}

/* The seat of the place in the current thread's program that has called the kernel: the call's pc,
 * and the depth of the stack, which tells callers of the same function apart. Where the thread was
 * preempted, any instruction may be the place: all have one seat. */
static __always_inline struct wait_seat *seat_of_place(u64 who, struct task_struct *task,
                                                       int is_preempted)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 hash = is_preempted ? mix(who, 0) : mix(mix(who, REGS_PC(entry)), REGS_SP(entry));
	u32 at = hash & (WAIT_SEATS - 1);

	return bpf_map_lookup_elem(&wait_places, &at);
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

/* Whether a seat has a sample left; if so, spends it. It earns one in `step_ns`, and saves some up.
 */
static __always_inline int seat_spends(struct wait_seat *seat, u64 now, u64 step_ns)
{
	return pace_spend(&seat->spent_ns, step_ns, SAVED_NS / step_ns, now);
}

/* Whether the wait that begins is sampled as far as its seat is concerned, which has no samples
 * left; if so, with which weight. */
static __always_inline u32 seat_draws(struct wait_seat *seat, u64 now, u64 step_ns)
{
	u32 gap = seat->gap ?: GAP_STEP;

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
		seat->spent_ns += step_ns;
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

		if (rate->spent < pace / 4)
			passed++;
		rate->halvings -= passed < rate->halvings ? passed : rate->halvings;
		rate->window = window;
		rate->spent = 0;
	} else if (rate->spent >= pace) {
		rate->halvings += rate->halvings < MAX_HALVINGS;
		rate->spent = 0;
	}
	return rate->halvings;
}

static __always_inline struct wait_rate *rate_of(struct wait_pace *pace, u32 place, u32 is_seldom)
{
	barrier_var(place);
	return &pace->of[place & (ACCOUNT_PLACES - 1)][is_seldom & 1];
}

/* By how much the weight grows; 0: the sample is not taken. */
static __always_inline u64 pace_draws(u64 now, u32 place, u32 is_seldom)
{
	const struct taken *open;
	u32 zero = 0, window = now >> WINDOW_SHIFT, halvings, of_all;
	struct wait_pace *pace = bpf_map_lookup_elem(&wait_paces, &zero);
	struct wait_rate *own;

	open = bpf_map_lookup_elem(&wait_taken, &zero);
	if (!pace || !open)
		return 0;
	own = rate_of(pace, place, is_seldom);
	barrier_var(place);
	/* The more waits of the account are under way beyond a quarter of the room, the fewer begin
	 * to be sampled, so that there is always room. */
	halvings = open->of[place & (ACCOUNT_PLACES - 1)] / (WAITS_OPEN / 16);
	halvings = (halvings > 4 ? halvings - 4 : 0) +
	           rate_halvings(own, window, PACE_OF_ACCOUNT << is_seldom);
	/* An account that has few samples does not pay for others'. */
	of_all = rate_halvings(&pace->all[is_seldom & 1], window, PACE_OF_CPU << is_seldom);
	if (own->halvings || own->spent >= PACE_OF_ACCOUNT / 4)
		halvings += of_all;
	if (halvings > MAX_HALVINGS)
		halvings = MAX_HALVINGS;
	return bpf_get_prandom_u32() & ((1u << halvings) - 1) ? 0 : 1ull << halvings;
}

/* A sample costs a walk, and half as much for each stack node that was not kept yet: it takes the
 * place of another, perhaps of a wait that still goes on. A walk that takes long costs as many as
 * would have fitted into that time: a program can make its stacks slow to walk, and the scheduler
 * waits for that. */
static __always_inline void pace_pay(u32 place, u32 is_seldom, u64 nodes, u64 took_ns)
{
	u32 zero = 0;
	u64 cost = 1 + nodes / 2 + took_ns / PACE_WALK_NS;
	struct wait_pace *pace = bpf_map_lookup_elem(&wait_paces, &zero);

	if (!pace)
		return;
	if (cost > PACE_MOST)
		cost = PACE_MOST;
	pace->all[is_seldom & 1].spent += cost;
	rate_of(pace, place, is_seldom)->spent += cost;
}
