/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pace - how many bytes go by until a sample is taken of them. The number is drawn anew each
 * time, because one that is fixed falls in step with what it measures; a sample stands for all
 * bytes since the one before, so sums are exact whatever is drawn. In a storm the bytes between
 * samples double, so that what it costs has a bound and which of them are taken still goes by bytes
 * and not by time. That is decided by the samples of a tenth of a second: a step that followed
 * every burst would be in step with the program again.
 */
#pragma once

#include "bpf/task.bpf.h"

enum {
	PACE_WINDOW_NS = 100 * 1000 * 1000,
	PACE_MANY = 50, /* samples in a window: a storm */
	PACE_FEW = 12,  /* not any more */
	PACE_DOUBLINGS = 12,
	PACE_PUT_OFF_DOUBLINGS = 4, /* where others make the storm */
};

struct pace {
	u64 step; /* the mean of `due` */
	u64 due;
	u64 window_ns; /* when it began */
	u64 samples;   /* in it */
};

/* A process that is new begins in the middle of a step, so that small ones count on average. */
static __always_inline struct pace pace_new(u64 step)
{
	return (struct pace){.step = step, .due = bpf_get_prandom_u32() % step + 1};
}

/* A sample is taken now. `least` is the step while there is no storm, which `many` samples in a
 * window are; it is over below `few`. */
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

/* A sample is due after `pending` bytes, and must not be taken: then the next one is due later, at
 * a number of bytes drawn anew. Had it been put off until it may be taken, samples would go by
 * time.
 */
static __always_inline void pace_put_off(struct pace *pace, u64 pending, u64 least)
{
	u64 step = pace->step;

	if (step < least << PACE_PUT_OFF_DOUBLINGS)
		step *= 2;
	pace->step = step;
	pace->due = pending + step / 2 + bpf_get_prandom_u32() % step;
}

/* Whether the task uses its parent's memory until it calls exec or ends: what grows meanwhile is
 * left to the parent's next sample. */
static __always_inline int has_borrowed_memory(const struct task_struct *task)
{
	return task->vfork_done != NULL;
}
