/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A line begins "Uid:\tREAL\tEFFECTIVE\t...". The process name, which is in a line above, has its
 * newlines escaped, so it cannot forge that line.
 */
#include "proc/owner.h"

#include "base/accounts.h"
#include "base/buf.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_STATUS_BYTES = 16384, ID_COUNT = 4 };

/* Returns how many of the ids were found. */
static int parse_ids(const char *bytes, size_t len, uint32_t ids[ID_COUNT])
{
	static const char key[] = "\nUid:";
	const char *line = len ? memmem(bytes, len, key, sizeof(key) - 1) : NULL;
	struct text text;
	int count = 0;

	if (!line)
		return 0;
	text = (struct text){line + sizeof(key) - 1, bytes + len};
	while (count < ID_COUNT) {
		uint64_t id;

		while (text.at < text.end && *text.at == '\t')
			text.at++;
		if (!text_decimal(&text, &id) || id >= OWNER_UNKNOWN)
			break;
		ids[count++] = (uint32_t)id;
	}
	return count;
}

uint32_t owner_parse(const char *bytes, size_t len)
{
	uint32_t ids[ID_COUNT];

	return parse_ids(bytes, len, ids) ? ids[0] : OWNER_UNKNOWN;
}

uint32_t owner_parse_sole(const char *bytes, size_t len)
{
	uint32_t ids[ID_COUNT];

	if (parse_ids(bytes, len, ids) < ID_COUNT)
		return OWNER_UNKNOWN;
	for (int i = 1; i < ID_COUNT; i++)
		if (ids[i] != ids[0])
			return OWNER_UNKNOWN;
	return ids[0];
}

static int read_status(uint32_t pid, struct buf *status)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	return buf_read_file(status, path, MAX_STATUS_BYTES);
}

uint32_t owner_read(uint32_t pid)
{
	_cleanup_(buf_release) struct buf status = BUF_INIT;

	if (read_status(pid, &status))
		return OWNER_UNKNOWN;
	return account_of(owner_parse(buf_text(&status), status.len));
}

uint32_t owner_read_sole(uint32_t pid)
{
	_cleanup_(buf_release) struct buf status = BUF_INIT;
	char path[32];
	struct stat st;
	uint32_t uid;

	if (read_status(pid, &status))
		return OWNER_UNKNOWN;
	uid = owner_parse_sole(buf_text(&status), status.len);
	/* The files of a process that is not dumpable belong to root. */
	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	return !stat(path, &st) && st.st_uid == uid ? uid : OWNER_UNKNOWN;
}
