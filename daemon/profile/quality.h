/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How complete the stacks of a profile are, from the profile alone: a truncated stack has a frame
 * "[unknown: reason]" as its root. Pure; any thread.
 */
#pragma once

#include "profile/profile.h"

/* The name of such a frame begins with this; the reason and "]" follow. */
#define CUT_FRAME "[unknown: "

enum { MAX_CUT_REASONS = 32 };

struct quality {
	uint64_t stacks; /* samples that have a user stack */
	uint64_t complete;
	struct {
		uint32_t name; /* string: of the root frame */
		uint64_t samples;
	} cuts[MAX_CUT_REASONS]; /* most samples first */
	size_t cut_count;
};

/* 0 or -ENOMEM. */
int quality_of(const struct profile *profile, struct quality *ret_quality);
