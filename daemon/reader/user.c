/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Only local files are read: name services may ask a server, and the ids that they assign are
 * outside the ranges.
 */
#include "reader/user.h"

#include "base/bounds.h"
#include "base/buf.h"

bool user_is_named(struct text names, uint32_t id)
{
	struct text line, field;
	uint64_t value;

	while (text_line(&names, &line))
		if (text_until(&line, ':', &field) && text_until(&line, ':', &field) &&
		    text_decimal(&line, &value) && value == id)
			return true;
	return false;
}

bool user_is_delegated(struct text ranges, uint32_t id)
{
	uint64_t start, count;
	struct text line, field;

	while (text_line(&ranges, &line))
		if (text_until(&line, ':', &field) && text_decimal(&line, &start) &&
		    text_char(&line, ':') && text_decimal(&line, &count) && id >= start &&
		    id - start < count)
			return true;
	return false;
}

bool user_is_mapped(struct text map, uint32_t id)
{
	struct text line, inside, outside, count;
	uint64_t start, ids;

	while (text_line(&map, &line))
		if (text_word(&line, &inside) && text_word(&line, &outside) &&
		    text_word(&line, &count) && text_decimal(&inside, &start) &&
		    text_decimal(&count, &ids) && id >= start && id - start < ids)
			return true;
	return false;
}

uint32_t user_pick(unsigned int which)
{
	static const char *const names[] = {"/etc/passwd", "/etc/group"};
	static const char *const ranges[] = {"/etc/subuid", "/etc/subgid"};
	static const char *const maps[] = {"/proc/self/uid_map", "/proc/self/gid_map"};
	struct buf files[6] = {BUF_INIT};
	struct text text[6];
	uint32_t found = 0;

	for (size_t i = 0; i < 2; i++) {
		text[i] = buf_read_text(&files[i], names[i], MAX_USERS_FILE_BYTES);
		text[2 + i] = buf_read_text(&files[2 + i], ranges[i], MAX_USERS_FILE_BYTES);
		text[4 + i] = buf_read_text(&files[4 + i], maps[i], MAX_USERS_FILE_BYTES);
	}
	for (uint32_t i = 0; i < READER_USER_COUNT + CONTAINER_USER_COUNT && !found; i++) {
		uint32_t id = i < READER_USER_COUNT ? READER_USER_FIRST + i
		                                    : CONTAINER_USER_FIRST + i - READER_USER_COUNT;

		/* For ids that are not mapped, the long files need not be searched. */
		if (user_is_mapped(text[4], id) && user_is_mapped(text[5], id) &&
		    !user_is_named(text[0], id) && !user_is_named(text[1], id) &&
		    !user_is_delegated(text[2], id) && !user_is_delegated(text[3], id) && !which--)
			found = id;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		buf_release(&files[i]);
	return found;
}
