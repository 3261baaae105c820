/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A short list that is searched from its start: a host has some hundred groups, and a process is
 * looked for only when it is young or now and then. Where a limit is that of a group above, several
 * groups have the same path, which is told once.
 */
#include "memory/reader_groups.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

enum {
	MAX_GROUPS = 4096,
	MAX_MOUNTS_BYTES = 4 << 20,
	LOOK_MS = 5000,    /* whether a limit was set or taken away, in it or above */
	NEAR_PERCENT = 80, /* of its limit, and it is read each time */
};

void reader_groups_init(struct reader_groups *groups)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	*groups = (struct reader_groups){0};
	if (buf_read_file(&text, "/proc/self/mountinfo", MAX_MOUNTS_BYTES) ||
	    control_group_parse_mounts(buf_text(&text), text.len, &groups->mount))
		groups->mount.version = 0;
}

static void forget(struct reader_group *group)
{
	free(group->own);
	free(group->path);
	*group = (struct reader_group){0};
}

void reader_groups_release(struct reader_groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++)
		forget(&groups->at[i]);
	free(groups->at);
	free(groups->readings);
}

void reader_groups_begin(struct reader_groups *groups, uint64_t now_ms)
{
	groups->now_ms = now_ms;
	for (uint32_t i = 0; i < groups->count; i++)
		groups->at[i].used = groups->at[i].changed = false;
}

static struct reader_group *free_number(struct reader_groups *groups)
{
	struct reader_group *at;

	for (uint32_t i = 0; i < groups->count; i++)
		if (!groups->at[i].own)
			return &groups->at[i];
	if (groups->count >= MAX_GROUPS)
		return NULL;
	at = reallocarray(groups->at, groups->count + 1, sizeof(*at));
	if (!at)
		return NULL;
	groups->at = at;
	at[groups->count] = (struct reader_group){0};
	return &at[groups->count++];
}

uint32_t reader_groups_find(struct reader_groups *groups, const char *text, size_t len)
{
	char path[MAX_PATH_BYTES];
	struct reader_group *group;

	if (!groups->mount.version || control_group_parse_path(text, len, &groups->mount, path))
		return MEMORY_NO_GROUP;
	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->at[i].own && !strcmp(groups->at[i].own, path)) {
			groups->at[i].used = true;
			return i;
		}
	}
	group = free_number(groups);
	if (!group)
		return MEMORY_NO_GROUP;
	group->own = strdup(path);
	group->used = group->own != NULL;
	return group->own ? (uint32_t)(group - groups->at) : MEMORY_NO_GROUP;
}

void reader_groups_use(struct reader_groups *groups, uint32_t group, bool changed)
{
	if (group == MEMORY_NO_GROUP)
		return;
	groups->at[group].used = true;
	groups->at[group].changed |= changed;
}

static uint32_t tell(struct reader_groups *groups, const char *path,
                     const struct control_group_usage *usage)
{
	uint32_t index = 0;

	while (index < groups->reading_count && strcmp(groups->readings[index].path, path) != 0)
		index++;
	if (index == groups->reading_count)
		groups->readings[groups->reading_count++] =
			(struct memory_group_reading){path, *usage};
	return index;
}

static bool is_due(const struct reader_groups *groups, const struct reader_group *group)
{
	return !group->path || group->changed ||
	       groups->now_ms - group->read_ms >= MEMORY_LOOK_MS ||
	       control_group_near(&group->usage, NEAR_PERCENT);
}

/* -ENOENT: it is gone. */
static int read_usage(struct reader_groups *groups, struct reader_group *group)
{
	bool look = !group->path || groups->now_ms - group->looked_ms >= LOOK_MS;
	char path[MAX_PATH_BYTES];

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
		group->index = tell(groups, group->path, &group->usage);
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
	for (uint32_t i = 0; !err && i < groups->count; i++) {
		if (groups->at[i].used)
			err = read_group(groups, &groups->at[i]);
		else
			forget(&groups->at[i]);
	}
	return err;
}

uint32_t reader_groups_index(const struct reader_groups *groups, uint32_t group)
{
	return group != MEMORY_NO_GROUP ? groups->at[group].index : MEMORY_NO_GROUP;
}

const struct memory_group_reading *reader_groups_all(const struct reader_groups *groups,
                                                     size_t *ret_count)
{
	*ret_count = groups->reading_count;
	return groups->readings;
}
