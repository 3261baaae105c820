/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct hot_places - the few stacks with the most time, by their innermost functions. Private to
 * encode/; pure.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

enum { HOT_PLACES = 5, HOT_FRAMES = 8 };

struct hot_place {
	char *text; /* innermost function first: "f < g < main" */
	uint64_t ns;
};

struct hot_places {
	struct hot_place at[HOT_PLACES]; /* the most time first */
	size_t count;
};

/* Appends the innermost functions of a path, without those of the kernel unless there are no
 * others. Where interpreted code is on the path, native functions but the innermost are left out.
 */
void hot_places_write(const struct profile *profile, uint32_t leaf, struct buf *text);
/* Keeps the places with the most time: their texts are the strings of `names`, `ns` is by string. 0
 * or -ENOMEM. */
int hot_places_keep(struct hot_places *places, const struct profile *names, const uint64_t *ns);
void hot_places_release(struct hot_places *places);
