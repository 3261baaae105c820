/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Chooses the accounts whose call paths are shortened when folded paths are too long for an answer.
 * A path repeats the names of all its frames, so one user's long paths would leave no room for the
 * others'. Private to encode/.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

/* Stands for a path that was shortened. */
#define TOO_LONG "[too long for this answer]"

/* Folded paths that are too long. `names` has their nodes; the address of a frame's location is the
 * string of its name. `nodes` are the nodes in `names`, by the profile's nodes. */
struct folded_paths {
	const struct profile *profile, *names;
	const uint32_t *nodes;
	uint32_t value; /* samples whose value is 0 have no line */
};

/* Shortens the lines of the accounts with the longest ones, one account after the other, until all
 * lines fit into `max_bytes`. Sets `gives_way` of their tasks. -EFBIG: only one account is not
 * shortened, and the lines are still too long; no other account is in its way. -ENOMEM. */
int folded_give_way(const struct folded_paths *paths, size_t max_bytes, bool *gives_way);
