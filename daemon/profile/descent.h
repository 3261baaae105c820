/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct descent - the processes that descend from given ones, as far as slices and the caller's
 * list of living processes show. Pure; any thread.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

/* `parent` started `pid`. */
struct kinship {
	uint32_t parent, pid;
};

struct descent {
	uint32_t *pids; /* ascending; includes the given processes */
	size_t count;
};

/* 0 or -ENOMEM. A process whose parent is not known is not found as a descendant. */
int descent_find(const uint32_t *pids, size_t pid_count, struct profile *const *slices,
                 size_t slice_count, const struct kinship *known, size_t known_count,
                 struct descent *ret_descent);
bool descent_has(const struct descent *descent, uint32_t pid);
void descent_release(struct descent *descent);
