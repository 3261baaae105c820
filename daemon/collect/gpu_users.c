/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * By process and object. An entry also says where: a process may have run another program since,
 * which has another file of the same build there.
 */
#include "collect/gpu_users.h"

#include <errno.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct key {
	uint32_t pid, object;
};

struct gpu_user {
	struct key key;
	uint64_t start; /* of the mapping */
	struct gpu_used *used;
	UT_hash_handle hh;
};

static void drop(struct gpu_users *users, struct gpu_user *user)
{
	user->used->users--;
	HASH_DEL(users->by_key, user);
	free(user);
}

void gpu_users_release(struct gpu_users *users)
{
	struct gpu_user *user, *next;

	HASH_ITER (hh, users->by_key, user, next)
		drop(users, user);
}

static struct gpu_user *find(const struct gpu_users *users, uint32_t pid, uint32_t object)
{
	const struct key key = {pid, object};
	struct gpu_user *user;

	HASH_FIND(hh, users->by_key, &key, sizeof(key), user);
	return user;
}

struct gpu_used *gpu_users_find(const struct gpu_users *users, uint32_t pid,
                                const struct proc_mapping *mapping)
{
	const struct gpu_user *user = find(users, pid, mapping->object);

	return user && user->start == mapping->start ? user->used : NULL;
}

bool gpu_users_have_room(const struct gpu_users *users)
{
	return HASH_COUNT(users->by_key) < MAX_GPU_USERS;
}

int gpu_users_set(struct gpu_users *users, uint32_t pid, const struct proc_mapping *mapping,
                  struct gpu_used *used)
{
	struct gpu_user *user = find(users, pid, mapping->object);

	if (user) {
		user->used->users--;
	} else {
		if (!gpu_users_have_room(users))
			return -ENOSPC;
		user = calloc(1, sizeof(*user));
		if (!user)
			return -ENOMEM;
		user->key = (struct key){pid, mapping->object};
		HASH_ADD(hh, users->by_key, key, sizeof(user->key), user);
		if (!user->hh.tbl) {
			free(user);
			return -ENOMEM;
		}
	}
	user->start = mapping->start;
	user->used = used;
	used->users++;
	return 0;
}

static bool has_still(const struct gpu_user *user, struct procs *procs)
{
	const struct mapping_set *set = procs_mappings(procs, user->key.pid);
	const struct proc_mapping *mapping = set ? mapping_set_find(set, user->start) : NULL;

	return mapping && mapping->object == user->key.object;
}

void gpu_users_update(struct gpu_users *users, struct procs *procs)
{
	struct gpu_user *user, *next;

	HASH_ITER (hh, users->by_key, user, next) {
		if (!has_still(user, procs))
			drop(users, user);
	}
}

void gpu_users_forget(struct gpu_users *users, struct gpu_used *used)
{
	struct gpu_user *user, *next;

	if (!used->users)
		return;
	HASH_ITER (hh, users->by_key, user, next) {
		if (user->used == used)
			drop(users, user);
	}
}
