/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct descent - the processes that descend from some, as far as slices and whoever knows the
 * living ones can tell. Pure; any thread.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

/* Who started whom. */
struct kinship {
	uint32_t parent, pid;
};

struct descent {
	uint32_t *pids; /* ascending; those it began with among them */
	size_t count;
};

/* 0 or -ENOMEM. A process whose own parent is not known ends the line. */
int descent_find(const uint32_t *pids, size_t pid_count, struct profile *const *slices,
                 size_t slice_count, const struct kinship *known, size_t known_count,
                 struct descent *ret_descent);
bool descent_has(const struct descent *descent, uint32_t pid);
void descent_release(struct descent *descent);
