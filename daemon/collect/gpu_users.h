/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_users - which process has which file mapped: one entry for each object of the store
 * that a process maps, however often it maps it. Found by a hash. Loop thread only.
 */
#pragma once

#include "proc/proc.h"

#include <stddef.h>

enum { MAX_GPU_USERS = 65536 }; /* of all files */

struct gpu_users {
	struct gpu_user *by_key;
};

/* Embed in what is used. */
struct gpu_used {
	size_t users;
};

void gpu_users_release(struct gpu_users *users);
/* Whose mapping it is; NULL: not known, or mapped elsewhere since, so it may be another file. */
struct gpu_used *gpu_users_find(const struct gpu_users *users, uint32_t pid,
                                const struct proc_mapping *mapping);
/* Room for one more? */
bool gpu_users_have_room(const struct gpu_users *users);
/* Takes the place of what the process had of that object. -ENOSPC, -ENOMEM. */
int gpu_users_set(struct gpu_users *users, uint32_t pid, const struct proc_mapping *mapping,
                  struct gpu_used *used);
/* Forgets who has the mapping no more. */
void gpu_users_update(struct gpu_users *users, struct procs *procs);
/* Forgets all users of it. */
void gpu_users_forget(struct gpu_users *users, struct gpu_used *used);
