/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table is keyed by process and object. An entry also holds the mapping's address: the process
 * may have called exec since, and may have another file of the same build mapped elsewhere.
 */
#include "probes/file_users.h"

#include "base/table.h"

#include <errno.h>
#include <stdlib.h>

struct key {
	uint32_t pid, object;
};

struct file_user {
	struct key key;
	uint32_t owner;
	uint64_t start; /* of the mapping */
	struct file_used *used;
	UT_hash_handle hh;
};

static void drop(struct file_users *users, struct file_user *user)
{
	user->used->users--;
	shares_give(&users->shares, user->owner, 1);
	HASH_DEL(users->by_key, user);
	free(user);
}

void file_users_init(struct file_users *users)
{
	*users = (struct file_users){.shares = {.whole = MAX_FILE_USERS}};
}

void file_users_release(struct file_users *users)
{
	struct file_user *user, *next;

	HASH_ITER (hh, users->by_key, user, next)
		drop(users, user);
	shares_clear(&users->shares);
}

static struct file_user *find(const struct file_users *users, uint32_t pid, uint32_t object)
{
	const struct key key = {pid, object};
	struct file_user *user;

	HASH_FIND(hh, users->by_key, &key, sizeof(key), user);
	return user;
}

struct file_used *file_users_find(const struct file_users *users, uint32_t pid,
                                  const struct proc_mapping *mapping)
{
	const struct file_user *user = find(users, pid, mapping->object);

	return user && user->start == mapping->start ? user->used : NULL;
}

bool file_users_have_room(struct file_users *users, uint32_t owner)
{
	bool has = shares_take(&users->shares, owner, 1);

	if (has)
		shares_give(&users->shares, owner, 1);
	return has;
}

static int add(struct file_users *users, const struct key *key, uint32_t owner,
               struct file_user **ret_user)
{
	struct file_user *user;

	if (!shares_take(&users->shares, owner, 1))
		return -ENOSPC;
	user = calloc(1, sizeof(*user));
	if (user) {
		user->key = *key;
		user->owner = owner;
		HASH_ADD(hh, users->by_key, key, sizeof(user->key), user);
	}
	if (!user || !user->hh.tbl) {
		free(user);
		shares_give(&users->shares, owner, 1);
		return -ENOMEM;
	}
	*ret_user = user;
	return 0;
}

int file_users_set(struct file_users *users, uint32_t pid, uint32_t owner,
                   const struct proc_mapping *mapping, struct file_used *used)
{
	const struct key key = {pid, mapping->object};
	struct file_user *user = find(users, pid, mapping->object);
	int err = 0;

	if (user)
		user->used->users--;
	else
		err = add(users, &key, owner, &user);
	if (err)
		return err;
	user->start = mapping->start;
	user->used = used;
	used->users++;
	return 0;
}

static bool has_still(const struct file_user *user, struct procs *procs)
{
	const struct mapping_set *set = procs_mappings(procs, user->key.pid);
	const struct proc_mapping *mapping = set ? mapping_set_find(set, user->start) : NULL;

	return mapping && mapping->object == user->key.object;
}

void file_users_update(struct file_users *users, struct procs *procs)
{
	struct file_user *user, *next;

	HASH_ITER (hh, users->by_key, user, next) {
		if (!has_still(user, procs))
			drop(users, user);
	}
}

void file_users_forget(struct file_users *users, struct file_used *used)
{
	struct file_user *user, *next;

	if (!used->users)
		return;
	HASH_ITER (hh, users->by_key, user, next) {
		if (user->used == used)
			drop(users, user);
	}
}
