/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parsers first, then the functions that read files. Paths come from the kernel, but any user
 * may have chosen the names in them, so a path with ".." is refused: it would leave the mount.
 */
#include "memory/control_group.h"

#include "base/buf.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_FIGURE_BYTES = 64,      /* of a file that holds one number */
	MAX_STAT_BYTES = 64 * 1024, /* memory.stat has 50 lines */
	LOOK_CLOSER_PERCENT = 90,   /* of the limit: above it memory.stat is read */
};

/* In version 1 a number from this on means no limit: version 1 rounds 2^63 to pages. */
static const uint64_t no_limit_from = 1ULL << 62;

static const struct files {
	const char *usage, *limit;
} files_of[] = {
	[1] = {"memory.usage_in_bytes", "memory.limit_in_bytes"},
	[2] = {"memory.current", "memory.max"},
};

static size_t text_len(struct text text)
{
	return (size_t)(text.end - text.at);
}

static bool copy_path(struct text from, char *to, size_t size)
{
	size_t len = text_len(from);

	if (len >= size || memchr(from.at, '\0', len))
		return false;
	memcpy(to, from.at, len);
	to[len] = '\0';
	return true;
}

/* Whether `word` is in a list of words separated by `separator`. */
static bool lists(struct text list, char separator, const char *word)
{
	while (list.at < list.end) {
		const char *end = memchr(list.at, separator, text_len(list));
		struct text one = {list.at, end ? end : list.end};

		if (text_equals(one, word))
			return true;
		list.at = end ? end + 1 : list.end;
	}
	return false;
}

/* A line of mountinfo: "31 23 0:28 ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE SUPER". */
static bool parse_mount(struct text line, struct control_group_mount *mount)
{
	struct text root = {0}, point = {0}, word, type, source, super;

	for (int i = 0; i < 6; i++) {
		if (!text_word(&line, &word))
			return false;
		if (i == 3)
			root = word;
		if (i == 4)
			point = word;
	}
	do {
		if (!text_word(&line, &word))
			return false;
	} while (!text_equals(word, "-"));
	if (!text_word(&line, &type) || !text_word(&line, &source) || !text_word(&line, &super))
		return false;
	if (text_equals(type, "cgroup2"))
		mount->version = 2;
	else if (text_equals(type, "cgroup") && lists(super, ',', "memory"))
		mount->version = 1;
	else
		return false;
	return copy_path(root, mount->root, sizeof(mount->root)) &&
	       copy_path(point, mount->point, sizeof(mount->point));
}

int control_group_parse_mounts(const char *bytes, size_t len, struct control_group_mount *ret_mount)
{
	struct text rest = text_of(bytes, len), line;
	struct control_group_mount mount;
	bool found = false;

	while (text_line(&rest, &line)) {
		if (!parse_mount(line, &mount) || (found && ret_mount->version <= mount.version))
			continue;
		*ret_mount = mount;
		found = true;
	}
	return found ? 0 : -ENOENT;
}

/* "4:memory,hugetlb:/path" or "0::/path". */
static bool is_ours(struct text *line, unsigned int version)
{
	struct text controllers;
	uint64_t number;
	const char *colon;

	if (!text_decimal(line, &number) || !text_char(line, ':'))
		return false;
	colon = memchr(line->at, ':', text_len(*line));
	if (!colon)
		return false;
	controllers = (struct text){line->at, colon};
	line->at = colon + 1;
	return version == 1 ? lists(controllers, ',', "memory") : !number && !text_len(controllers);
}

/* The path below the mounted root. */
static bool below_root(struct text path, const char *root, struct text *ret_path)
{
	size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (text_len(path) < root_len || memcmp(path.at, root, root_len) != 0)
		return false;
	path.at += root_len;
	if (path.at < path.end && *path.at != '/')
		return false;
	*ret_path = path.at < path.end ? path : text_of("/", 1);
	return !lists(*ret_path, '/', "..");
}

int control_group_parse_path(const char *bytes, size_t len, const struct control_group_mount *mount,
                             char ret_path[MAX_CONTROL_GROUP_BYTES])
{
	struct text rest = text_of(bytes, len), line, path;

	while (text_line(&rest, &line)) {
		if (!is_ours(&line, mount->version))
			continue;
		if (!below_root(line, mount->root, &path) ||
		    !copy_path(path, ret_path, MAX_CONTROL_GROUP_BYTES))
			return -ENOENT;
		return 0;
	}
	return -ENOENT;
}

int control_group_parse_bytes(const char *bytes, size_t len, uint64_t *ret_bytes)
{
	struct text rest = text_of(bytes, len), word, more;
	uint64_t value;

	if (!text_word(&rest, &word) || !text_decimal(&word, &value) || word.at != word.end ||
	    text_word(&rest, &more))
		return -EINVAL;
	*ret_bytes = value;
	return 0;
}

int control_group_parse_limit(const char *bytes, size_t len, uint64_t *ret_limit)
{
	struct text rest = text_of(bytes, len), word;
	uint64_t limit;
	int err;

	if (text_word(&rest, &word) && text_equals(word, "max")) {
		*ret_limit = CONTROL_GROUP_NO_LIMIT;
		return 0;
	}
	err = control_group_parse_bytes(bytes, len, &limit);
	if (!err)
		*ret_limit = limit >= no_limit_from ? CONTROL_GROUP_NO_LIMIT : limit;
	return err;
}

/* Version 1 has each line twice; the one with "total_" includes the groups below. */
uint64_t control_group_parse_file(const char *bytes, size_t len)
{
	static const char *const names[] = {"inactive_file", "active_file"};
	static const char *const totals[] = {"total_inactive_file", "total_active_file"};
	struct text rest = text_of(bytes, len), line, name;
	uint64_t own[2] = {0}, total[2] = {0}, value;
	bool has_total = false;

	while (text_line(&rest, &line)) {
		if (!text_word(&line, &name) ||
		    control_group_parse_bytes(line.at, text_len(line), &value) ||
		    value >= no_limit_from)
			continue;
		for (int i = 0; i < 2; i++) {
			if (text_equals(name, names[i]))
				own[i] = value;
			if (text_equals(name, totals[i])) {
				total[i] = value;
				has_total = true;
			}
		}
	}
	return has_total ? total[0] + total[1] : own[0] + own[1];
}

static int read_file(const struct control_group_mount *mount, const char *path, const char *name,
                     size_t max, struct buf *text)
{
	char full[2 * MAX_PATH_BYTES + 64];

	snprintf(full, sizeof(full), "%s%s/%s", strcmp(mount->point, "/") ? mount->point : "",
	         strcmp(path, "/") ? path : "", name);
	buf_clear(text);
	return buf_read_file(text, full, max);
}

static int read_limit(const struct control_group_mount *mount, const char *path, uint64_t *limit)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	int err = read_file(mount, path, files_of[mount->version].limit, MAX_FIGURE_BYTES, &text);

	return err ? err : control_group_parse_limit(buf_text(&text), text.len, limit);
}

int control_group_read_at(const struct control_group_mount *mount, const char *path,
                          struct control_group_usage *ret_usage)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	struct control_group_usage usage = {.limit_bytes = CONTROL_GROUP_NO_LIMIT};
	int err = read_file(mount, path, files_of[mount->version].usage, MAX_FIGURE_BYTES, &text);

	if (!err)
		err = control_group_parse_bytes(buf_text(&text), text.len, &usage.bytes);
	if (err)
		return err;
	/* Version 2's root has no such file. */
	if (read_limit(mount, path, &usage.limit_bytes))
		usage.limit_bytes = CONTROL_GROUP_NO_LIMIT;
	if (control_group_near(&usage, LOOK_CLOSER_PERCENT) &&
	    !read_file(mount, path, "memory.stat", MAX_STAT_BYTES, &text))
		usage.file_bytes = control_group_parse_file(buf_text(&text), text.len);
	*ret_usage = usage;
	return 0;
}

/* Truncates the path to the parent group; false at the root. */
static bool cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

int control_group_read(const struct control_group_mount *mount, char path[MAX_CONTROL_GROUP_BYTES],
                       struct control_group_usage *ret_usage)
{
	char at[MAX_CONTROL_GROUP_BYTES];
	uint64_t limit = CONTROL_GROUP_NO_LIMIT;

	snprintf(at, sizeof(at), "%s", path);
	for (int depth = 0; depth < CONTROL_GROUP_DEPTH; depth++) {
		if (!read_limit(mount, at, &limit) && limit != CONTROL_GROUP_NO_LIMIT) {
			strcpy(path, at);
			break;
		}
		if (!cut_last(at))
			break;
	}
	return control_group_read_at(mount, path, ret_usage);
}

bool control_group_near(const struct control_group_usage *usage, unsigned int percent)
{
	uint64_t bytes = usage->bytes > usage->file_bytes ? usage->bytes - usage->file_bytes : 0;

	return usage->limit_bytes != CONTROL_GROUP_NO_LIMIT &&
	       bytes > usage->limit_bytes / 100 * percent;
}
