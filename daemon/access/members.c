/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Members of a group: user ids in ascending order, without duplicates.
 */
#include "access/members.h"

#include "base/bounds.h"
#include "base/buf.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

struct members {
	size_t count;
	uint32_t uids[];
};

static int compare(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

struct members *members_new(const uint32_t *uids, size_t count)
{
	struct members *members = calloc(1, sizeof(*members) + count * sizeof(*uids));

	if (!members || !count)
		return members;
	memcpy(members->uids, uids, count * sizeof(*uids));
	qsort(members->uids, count, sizeof(*uids), compare);
	for (size_t i = 0; i < count; i++)
		if (!i || members->uids[i] != members->uids[i - 1])
			members->uids[members->count++] = members->uids[i];
	return members;
}

void members_free(struct members *members)
{
	free(members);
}

bool members_have(const struct members *members, uint32_t uid)
{
	return bsearch(&uid, members->uids, members->count, sizeof(uid), compare) != NULL;
}

size_t members_count(const struct members *members)
{
	return members->count;
}

static int add_uid(struct buf *uids, uint32_t uid)
{
	if (uids->len / sizeof(uid) >= MAX_GROUP_MEMBERS)
		return -E2BIG;
	buf_add(uids, &uid, sizeof(uid));
	return buf_error(uids);
}

/* Skips names of users that no longer exist. */
static int add_listed(struct buf *uids, char *const *names)
{
	int err = 0;

	for (; *names && !err; names++) {
		const struct passwd *user = getpwnam(*names);

		if (user)
			err = add_uid(uids, user->pw_uid);
	}
	return err;
}

static int add_owners(struct buf *uids, gid_t gid)
{
	const struct passwd *user;
	int err = 0;

	setpwent();
	while (!err && (user = getpwent()))
		if (user->pw_gid == gid)
			err = add_uid(uids, user->pw_uid);
	endpwent();
	return err;
}

int members_read(const char *group, struct members **ret_members)
{
	_cleanup_(buf_release) struct buf uids = BUF_INIT;
	const struct group *entry;
	int err;

	errno = 0;
	entry = getgrnam(group);
	/* For a group that does not exist getgrnam() may set errno to several values; only the
	 * three below are errors. */
	if (!entry)
		return errno == ENOMEM || errno == EIO || errno == EMFILE ? -errno : -ENOENT;
	err = add_listed(&uids, entry->gr_mem);
	if (!err)
		err = add_owners(&uids, entry->gr_gid);
	if (err)
		return err;
	*ret_members =
		members_new((const uint32_t *)(const void *)uids.data, uids.len / sizeof(uint32_t));
	return *ret_members ? 0 : -ENOMEM;
}
