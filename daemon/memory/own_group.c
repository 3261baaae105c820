/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The members of the group are read each time, because any process may be moved into it, and the
 * daemon may be moved to another group.
 */
#include "memory/own_group.h"

#include "base/buf.h"
#include "base/text.h"
#include "proc/parent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_MOUNTS_BYTES = 4 << 20,
	MAX_PATHS_BYTES = 16 * 1024,  /* of /proc/self/cgroup: a dozen paths */
	MAX_MEMBERS_BYTES = 4 * 1024, /* with more members, not all are profd's */
	MAX_STAT_BYTES = 64 * 1024,
};

static bool is_among(uint64_t pid, const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if ((uint64_t)pids[i] == pid)
			return true;
	return false;
}

/* Whether it is a child that was started after `pids` was listed. */
static bool is_child(uint64_t pid)
{
	return pid <= UINT32_MAX && parent_read((uint32_t)pid) == (uint32_t)getpid();
}

bool own_group_parse_members(const char *bytes, size_t len, const pid_t *pids, size_t count)
{
	struct text rest = text_of(bytes, len), line;
	uint64_t pid, any = 0;

	while (text_line(&rest, &line)) {
		if (!text_decimal(&line, &pid) || line.at != line.end ||
		    (!is_among(pid, pids, count) && !is_child(pid)))
			return false;
		any = pid;
	}
	return any != 0;
}

int own_group_parse_kernel(const char *bytes, size_t len, uint64_t *ret_bytes)
{
	struct text rest = text_of(bytes, len), line, name;

	while (text_line(&rest, &line))
		if (text_word(&line, &name) && text_equals(name, "kernel"))
			return control_group_parse_bytes(line.at, (size_t)(line.end - line.at),
			                                 ret_bytes);
	return -ENOENT;
}

static int find_mount(struct own_group *group)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	if (!group->looked &&
	    (buf_read_file(&text, "/proc/self/mountinfo", MAX_MOUNTS_BYTES) ||
	     control_group_parse_mounts(buf_text(&text), text.len, &group->mount)))
		group->mount.version = 0;
	group->looked = true;
	return group->mount.version ? 0 : -ENOENT;
}

static int find_path(const struct own_group *group, char ret_path[MAX_CONTROL_GROUP_BYTES])
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	if (buf_read_file(&text, "/proc/self/cgroup", MAX_PATHS_BYTES))
		return -ENOENT;
	return control_group_parse_path(buf_text(&text), text.len, &group->mount, ret_path);
}

static int read_file(const struct control_group_mount *mount, const char *path, const char *name,
                     size_t max, struct buf *text)
{
	char full[2 * MAX_PATH_BYTES + 64];

	snprintf(full, sizeof(full), "%s%s/%s", mount->point, strcmp(path, "/") ? path : "", name);
	buf_clear(text);
	return buf_read_file(text, full, max);
}

static uint64_t kernel_bytes(const struct control_group_mount *mount, const char *path)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	bool first = mount->version == 1;
	uint64_t bytes;

	if (read_file(mount, path, first ? "memory.kmem.usage_in_bytes" : "memory.stat",
	              MAX_STAT_BYTES, &text))
		return OWN_GROUP_UNKNOWN;
	if (first ? control_group_parse_bytes(buf_text(&text), text.len, &bytes)
	          : own_group_parse_kernel(buf_text(&text), text.len, &bytes))
		return OWN_GROUP_UNKNOWN;
	return bytes;
}

int own_group_read_at(const struct control_group_mount *mount, const char *path, const pid_t *pids,
                      size_t count, struct own_group_usage *ret_usage)
{
	_cleanup_(buf_release) struct buf members = BUF_INIT;
	struct control_group_usage usage;

	if (read_file(mount, path, "cgroup.procs", MAX_MEMBERS_BYTES, &members) ||
	    !own_group_parse_members(buf_text(&members), members.len, pids, count) ||
	    control_group_read_at(mount, path, &usage))
		return -ENOENT;
	*ret_usage = (struct own_group_usage){usage.bytes, kernel_bytes(mount, path)};
	return 0;
}

int own_group_read(struct own_group *group, const pid_t *pids, size_t count,
                   struct own_group_usage *ret_usage)
{
	char path[MAX_CONTROL_GROUP_BYTES];

	if (find_mount(group) || find_path(group, path))
		return -ENOENT;
	return own_group_read_at(&group->mount, path, pids, count, ret_usage);
}
