/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_users - which process has which probed file mapped: one entry for each object of the
 * store that a process maps, however often it maps it. Entries are found by a hash. Bounded, and
 * each user has a share (base/shares.h). Loop thread only.
 */
#pragma once

#include "base/shares.h"
#include "proc/proc.h"

#include <stddef.h>

enum { MAX_FILE_USERS = 65536 }; /* of all files; the processes of one user get at most half */

struct file_users {
	struct file_user *by_key;
	struct shares shares;
};

/* Embed in the probed file. */
struct file_used {
	size_t users;
};

void file_users_init(struct file_users *users);
void file_users_release(struct file_users *users);
/* The file that the process has mapped there. NULL: not known, or the object is now mapped
 * elsewhere, so it may be another file. */
struct file_used *file_users_find(const struct file_users *users, uint32_t pid,
                                  const struct proc_mapping *mapping);
/* Whether there is room for one more process of that user. */
bool file_users_have_room(struct file_users *users, uint32_t owner);
/* Notes that the process of that user has the file mapped there, in place of what it had of that
 * object before. -ENOSPC: the user's share is used up; -ENOMEM. */
int file_users_set(struct file_users *users, uint32_t pid, uint32_t owner,
                   const struct proc_mapping *mapping, struct file_used *used);
/* Removes entries of processes that no longer have the mapping. */
void file_users_update(struct file_users *users, struct procs *procs);
/* Removes all entries of the file. */
void file_users_forget(struct file_users *users, struct file_used *used);
