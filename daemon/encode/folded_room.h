/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whose call paths give way where folded ones are too long for an answer: a path repeats the names
 * of all its frames, so that one user's long ones would leave no room for anybody's. Private to
 * encode/.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

/* What stands for a path that gave way. */
#define TOO_LONG "[too long for this answer]"

/* Folded paths that are too long: `names` has them, as nodes of frames whose location's address is
 * their name's string, and `nodes` which of them is which of the profile's. */
struct folded_paths {
	const struct profile *profile, *names;
	const uint32_t *nodes;
	uint32_t value; /* samples that have none of this have no line */
};

/* The accounts with the longest lines give way, one after the other, until all fit into
 * `max_bytes`; sets `gives_way` of their tasks. -EFBIG: what is left is that of one account, and
 * too long; nobody else is in its way. -ENOMEM. */
int folded_give_way(const struct folded_paths *paths, size_t max_bytes, bool *gives_way);
