/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * By process, object and address: a process may have run another program since.
 */
#include "collect/gpu_users.h"

#include <stdlib.h>

struct gpu_user {
	uint32_t pid, object;
	uint64_t start; /* of the mapping */
};

void gpu_users_release(struct gpu_users *users)
{
	free(users->list);
	*users = (struct gpu_users){0};
}

bool gpu_users_have(const struct gpu_users *users, uint32_t pid, const struct proc_mapping *mapping)
{
	for (size_t i = 0; i < users->count; i++) {
		const struct gpu_user *user = &users->list[i];

		if (user->pid == pid && user->start == mapping->start &&
		    user->object == mapping->object)
			return true;
	}
	return false;
}

void gpu_users_add(struct gpu_users *users, uint32_t pid, const struct proc_mapping *mapping)
{
	struct gpu_user *list;

	if (users->crowded || gpu_users_have(users, pid, mapping))
		return;
	list = users->count < MAX_GPU_USERS
	               ? realloc(users->list, (users->count + 1) * sizeof(*list))
	               : NULL;
	if (!list) {
		users->crowded = true;
		return;
	}
	users->list = list;
	list[users->count++] = (struct gpu_user){pid, mapping->object, mapping->start};
}

static bool has_still(const struct gpu_user *user, struct procs *procs)
{
	const struct mapping_set *set = procs_mappings(procs, user->pid);
	const struct proc_mapping *mapping = set ? mapping_set_find(set, user->start) : NULL;

	return mapping && mapping->object == user->object;
}

bool gpu_users_update(struct gpu_users *users, struct procs *procs)
{
	size_t kept = 0;

	for (size_t i = 0; i < users->count; i++) {
		if (has_still(&users->list[i], procs))
			users->list[kept++] = users->list[i];
	}
	users->count = kept;
	return kept || users->crowded;
}
