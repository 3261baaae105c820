/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pace - how many bytes pass until the next sample is taken. The number is drawn anew for
 * each sample, because a fixed one falls into step with the program that it measures. A sample
 * stands for all bytes since the one before, so sums are exact whatever is drawn. In a storm the
 * step doubles, so that the cost is bounded, and which bytes are sampled still depends on bytes and
 * not on time. The samples of a tenth of a second decide on a change of the step: a step that
 * followed every burst would again be in step with the program.
 */
#pragma once

#include "bpf/task.bpf.h"

enum {
	PACE_WINDOW_NS = 100 * 1000 * 1000,
	PACE_MANY = 50, /* this many samples in a window are a storm */
	PACE_FEW = 12,  /* with fewer, the storm is over */
	PACE_DOUBLINGS = 12,
	PACE_WALK_NS = 100 * 1000,  /* longer than any but a hostile walk takes */
	PACE_PUT_OFF_DOUBLINGS = 4, /* when samples are put off: other processes make the storm */
};

struct pace {
	u64 step; /* mean of `due` */
	u64 due;
	u64 window_ns; /* when the window began */
	u64 samples;   /* in the window */
};

/* A new process begins at a random point of a step, so that small processes count correctly on
 * average. */
static __always_inline struct pace pace_new(u64 step)
{
	return (struct pace){.step = step, .due = bpf_get_prandom_u32() % step + 1};
}

/* Called when a sample is taken. `least` is the step while there is no storm. A storm begins with
 * `many` samples in a window and is over when a window has fewer than `few`. */
static __always_inline void pace_next_of(struct pace *pace, u64 now, u64 least, u64 many, u64 few)
{
	u64 step = pace->step, samples = pace->samples + 1;
	int is_over = now - pace->window_ns >= PACE_WINDOW_NS;

	if (is_over && samples < few)
		step = step / 2 > least ? step / 2 : least;
	else if (!is_over && samples >= many && step < least << PACE_DOUBLINGS)
		step *= 2;
	if (is_over || samples >= many) {
		pace->window_ns = now;
		samples = 0;
	}
	pace->samples = samples;
	pace->step = step;
	pace->due = step / 2 + bpf_get_prandom_u32() % step;
}

static __always_inline void pace_next(struct pace *pace, u64 now, u64 least)
{
	pace_next_of(pace, now, least, PACE_MANY, PACE_FEW);
}

/* A sample is due after `pending` bytes and must not be taken. The next one is then due later, at a
 * number of bytes that is drawn anew. If the sample were put off until it may be taken, samples
 * would depend on time. */
static __always_inline void pace_put_off(struct pace *pace, u64 pending, u64 least)
{
	u64 step = pace->step;

	if (step < least << PACE_PUT_OFF_DOUBLINGS)
		step *= 2;
	pace->step = step;
	pace->due = pending + step / 2 + bpf_get_prandom_u32() % step;
}

/* Whether the task uses its parent's memory until it calls exec or ends. Memory that grows
 * meanwhile is left to the parent's next sample. */
static __always_inline int has_borrowed_memory(const struct task_struct *task)
{
	return task->vfork_done != NULL;
}

/* Whether a sample is left, where one is earned in `step_ns`; if so, spends it. */
static __always_inline int pace_spend(u64 *spent_ns, u64 step_ns, u32 burst, u64 now)
{
	const u64 saved_ns = step_ns * burst;

	if (*spent_ns + saved_ns < now)
		*spent_ns = now - saved_ns;
	if (*spent_ns + step_ns > now)
		return 0;
	*spent_ns += step_ns;
	return 1;
}
