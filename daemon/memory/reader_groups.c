/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When the limit is that of a parent group, several groups have the same `path`; it is in the
 * readings once. Users can make any number of groups below their own, with any names, so paths are
 * hashed and never compared one by one.
 */
#include "memory/reader_groups.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

enum {
	MAX_GROUPS = 4096,
	MAX_MOUNTS_BYTES = 4 << 20,
	LOOK_MS = 5000,    /* how often limits of the group and its parents are looked up */
	NEAR_PERCENT = 80, /* above this part of its limit a group is read each time */
};

void reader_groups_init(struct reader_groups *groups)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	*groups = (struct reader_groups){.share.whole = MAX_GROUPS};
	if (buf_read_file(&text, "/proc/self/mountinfo", MAX_MOUNTS_BYTES) ||
	    control_group_parse_mounts(buf_text(&text), text.len, &groups->mount))
		groups->mount.version = 0;
}

static void release(struct reader_group *group)
{
	free(group->own);
	free(group->path);
	free(group);
}

static void forget(struct reader_groups *groups, struct reader_group *group)
{
	HASH_DEL(groups->by_own, group);
	shares_give(&groups->share, group->user, 1);
	groups->at[group->number] = NULL;
	if (group->number < groups->free)
		groups->free = group->number;
	release(group);
}

void reader_groups_release(struct reader_groups *groups)
{
	HASH_CLEAR(told_hh, groups->told);
	for (uint32_t i = 0; i < groups->count; i++)
		if (groups->at[i])
			forget(groups, groups->at[i]);
	shares_clear(&groups->share);
	free(groups->at);
	free(groups->readings);
}

void reader_groups_begin(struct reader_groups *groups, uint64_t now_ms)
{
	groups->now_ms = now_ms;
	for (uint32_t i = 0; i < groups->count; i++)
		if (groups->at[i])
			groups->at[i]->used = groups->at[i]->changed = false;
}

/* Finds a free number and makes room for it in `at`. */
static int find_number(struct reader_groups *groups, uint32_t *ret_number)
{
	struct reader_group **at;

	while (groups->free < groups->count && groups->at[groups->free])
		groups->free++;
	if (groups->free == groups->count) {
		at = reallocarray(groups->at, groups->count + 1, sizeof(struct reader_group *));
		if (!at)
			return -ENOMEM;
		groups->at = at;
		groups->at[groups->count++] = NULL;
	}
	*ret_number = groups->free;
	return 0;
}

static struct reader_group *new_group(struct reader_groups *groups, uint32_t user, const char *path)
{
	struct reader_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->user = user;
	group->index = MEMORY_NO_GROUP;
	group->own = strdup(path);
	if (group->own && !find_number(groups, &group->number)) {
		HASH_ADD_KEYPTR(hh, groups->by_own, group->own, strlen(group->own), group);
		if (group->hh.tbl)
			return group;
	}
	release(group);
	return NULL;
}

static struct reader_group *add(struct reader_groups *groups, uint32_t user, const char *path)
{
	struct reader_group *group;

	if (!shares_take_beside_root(&groups->share, user, 1))
		return NULL;
	group = new_group(groups, user, path);
	if (group)
		groups->at[group->number] = group;
	else
		shares_give(&groups->share, user, 1);
	return group;
}

uint32_t reader_groups_find(struct reader_groups *groups, uint32_t user, const char *text,
                            size_t len)
{
	char path[MAX_CONTROL_GROUP_BYTES];
	struct reader_group *group;

	if (!groups->mount.version || control_group_parse_path(text, len, &groups->mount, path))
		return MEMORY_NO_GROUP;
	HASH_FIND_STR(groups->by_own, path, group);
	if (!group)
		group = add(groups, user, path);
	if (!group) {
		groups->refused++;
		return MEMORY_NO_GROUP;
	}
	group->used = true;
	return group->number;
}

void reader_groups_use(struct reader_groups *groups, uint32_t group, bool changed)
{
	if (group == MEMORY_NO_GROUP)
		return;
	groups->at[group]->used = true;
	groups->at[group]->changed |= changed;
}

static int tell(struct reader_groups *groups, struct reader_group *group)
{
	struct reader_group *told;

	HASH_FIND(told_hh, groups->told, group->path, strlen(group->path), told);
	if (told) {
		group->index = told->index;
		return 0;
	}
	HASH_ADD_KEYPTR(told_hh, groups->told, group->path, strlen(group->path), group);
	if (!group->told_hh.tbl)
		return -ENOMEM;
	group->index = (uint32_t)groups->reading_count++;
	groups->readings[group->index] =
		(struct memory_group_reading){group->path, group->usage, group->user};
	return 0;
}

static bool is_due(const struct reader_groups *groups, const struct reader_group *group)
{
	return !group->path || group->changed ||
	       groups->now_ms - group->read_ms >= MEMORY_LOOK_MS ||
	       control_group_near(&group->usage, NEAR_PERCENT);
}

/* -ENOENT: the group is gone. */
static int read_usage(struct reader_groups *groups, struct reader_group *group)
{
	bool look = !group->path || groups->now_ms - group->looked_ms >= LOOK_MS;
	char path[MAX_CONTROL_GROUP_BYTES];

	strcpy(path, look ? group->own : group->path);
	if (look ? control_group_read(&groups->mount, path, &group->usage)
	         : control_group_read_at(&groups->mount, path, &group->usage))
		return -ENOENT;
	group->read_ms = groups->now_ms;
	if (look)
		group->looked_ms = groups->now_ms;
	if (group->path && !strcmp(group->path, path))
		return 0;
	free(group->path);
	group->path = strdup(path);
	return group->path ? 0 : -ENOMEM;
}

static int read_group(struct reader_groups *groups, struct reader_group *group)
{
	int err = is_due(groups, group) ? read_usage(groups, group) : 0;

	group->index = MEMORY_NO_GROUP;
	if (!err)
		err = tell(groups, group);
	return err == -ENOENT ? 0 : err;
}

int reader_groups_end(struct reader_groups *groups)
{
	struct memory_group_reading *readings =
		reallocarray(groups->readings, (size_t)groups->count + 1, sizeof(*readings));
	int err = 0;

	if (!readings)
		return -ENOMEM;
	groups->readings = readings;
	groups->reading_count = 0;
	HASH_CLEAR(told_hh, groups->told);
	for (uint32_t i = 0; !err && i < groups->count; i++) {
		struct reader_group *group = groups->at[i];

		if (group && group->used)
			err = read_group(groups, group);
		else if (group)
			forget(groups, group);
	}
	return err;
}

uint32_t reader_groups_index(const struct reader_groups *groups, uint32_t group)
{
	return group != MEMORY_NO_GROUP ? groups->at[group]->index : MEMORY_NO_GROUP;
}

const struct memory_group_reading *reader_groups_all(const struct reader_groups *groups,
                                                     size_t *ret_count)
{
	*ret_count = groups->reading_count;
	return groups->readings;
}
