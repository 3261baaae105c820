/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct hot_places - the few stacks with the most time, by their innermost functions, and what
 * would be gained if one of them took none. Private to encode/; pure.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

enum { HOT_PLACES = 5, HOT_FRAMES = 8 };

struct hot_place {
	char *text; /* innermost function first: "f < g < main" */
	uint64_t ns;
	/* How many times as fast the work is at most without it: Amdahl's law, for the thread that
	 * gains most. INFINITY: there is no bound. */
	double gain;
};

struct hot_places {
	struct hot_place at[HOT_PLACES]; /* the most time first */
	size_t count;
};

/* Samples that have a place, and the threads that they are of. */
struct hot_samples {
	const struct profile *profile;
	const uint32_t *samples; /* their ids */
	size_t count;
	const uint32_t *thread_of; /* by task: a number below `thread_count` */
	const uint64_t *thread_ns; /* by thread: all of its time that counts */
	uint32_t thread_count;
};

/* 0 or -ENOMEM. */
int hot_places_find(const struct hot_samples *of, struct hot_places *ret_places);
void hot_places_release(struct hot_places *places);
