/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_users - the processes that have a file mapped. Loop thread only.
 */
#pragma once

#include "proc/proc.h"

#include <stdbool.h>

enum { MAX_GPU_USERS = 4096 }; /* of one file */

struct gpu_users {
	struct gpu_user *list;
	size_t count;
	bool crowded; /* there were more, so there are some for ever */
};

void gpu_users_release(struct gpu_users *users);
bool gpu_users_have(const struct gpu_users *users, uint32_t pid,
                    const struct proc_mapping *mapping);
/* Once each. */
void gpu_users_add(struct gpu_users *users, uint32_t pid, const struct proc_mapping *mapping);
/* Forgets who has the mapping no more. Is anybody left? */
bool gpu_users_update(struct gpu_users *users, struct procs *procs);
