/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_users - which process has which probed file mapped: one entry for each object of the
 * store that a process maps, however often it maps it. Found by a hash. Bounded, and each user has
 * a share (base/shares.h). Loop thread only.
 */
#pragma once

#include "base/shares.h"
#include "proc/proc.h"

#include <stddef.h>

enum { MAX_FILE_USERS = 65536 }; /* of all files; the processes of one user have up to half */

struct file_users {
	struct file_user *by_key;
	struct shares shares;
};

/* Embed in what is used. */
struct file_used {
	size_t users;
};

void file_users_init(struct file_users *users);
void file_users_release(struct file_users *users);
/* Whose mapping it is; NULL: not known, or mapped elsewhere since, so it may be another file. */
struct file_used *file_users_find(const struct file_users *users, uint32_t pid,
                                  const struct proc_mapping *mapping);
/* Room for one more process of that user? */
bool file_users_have_room(struct file_users *users, uint32_t owner);
/* The process of that user has it mapped there, in the place of what it had of that object before.
 * -ENOSPC: the user has his share; -ENOMEM. */
int file_users_set(struct file_users *users, uint32_t pid, uint32_t owner,
                   const struct proc_mapping *mapping, struct file_used *used);
/* Forgets who has the mapping no more. */
void file_users_update(struct file_users *users, struct procs *procs);
/* Forgets all users of it. */
void file_users_forget(struct file_users *users, struct file_used *used);
