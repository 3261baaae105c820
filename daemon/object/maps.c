/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parses lines of /proc/PID/maps, for example
 * `7f1c00000000-7f1c00021000 r-xp 00001000 fe:01 1234    /usr/lib/libc.so.6`.
 */
#include "object/maps.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

static bool parse_line(struct text line, struct maps_line *ret_line)
{
	struct text word;
	uint64_t major, minor;

	if (!text_hex(&line, &ret_line->start) || !text_char(&line, '-') ||
	    !text_hex(&line, &ret_line->end) || ret_line->start >= ret_line->end)
		return false;
	if (!text_word(&line, &word) || word.end - word.at != 4)
		return false;
	ret_line->executable = word.at[2] == 'x';
	if (!text_char(&line, ' ') || !text_hex(&line, &ret_line->offset) || !text_char(&line, ' '))
		return false;
	if (!text_hex(&line, &major) || !text_char(&line, ':') || !text_hex(&line, &minor) ||
	    !text_char(&line, ' ') || !text_decimal(&line, &ret_line->inode))
		return false;
	ret_line->major = (uint32_t)major;
	ret_line->minor = (uint32_t)minor;
	while (text_char(&line, ' '))
		;
	ret_line->path = line.at;
	ret_line->path_len = (size_t)(line.end - line.at);
	return true;
}

/* Only looks at the permissions, as in "7f1c00000000-7f1c00021000 r-xp"; maps_parse() tells of
 * lines that are malformed. */
static bool may_be_executable(struct text line)
{
	struct text word;

	return !text_word(&line, &word) || !text_char(&line, ' ') || !text_word(&line, &word) ||
	       word.end - word.at != 4 || word.at[2] == 'x';
}

size_t maps_leave_executable(char *text, size_t len, size_t *ret_rest)
{
	struct text rest = text_of(text, len), line;
	char *to = text;

	*ret_rest = 0;
	while (text_line(&rest, &line)) {
		size_t bytes = (size_t)(rest.at - line.at);
		bool whole = rest.at > line.end;

		if (whole && !may_be_executable(line))
			continue;
		memmove(to, line.at, bytes);
		to += bytes;
		*ret_rest = whole ? 0 : bytes;
	}
	return (size_t)(to - text);
}

int maps_parse(const char *text, size_t len, maps_fn *fn, void *ctx)
{
	struct text rest = text_of(text, len), line;

	while (text_line(&rest, &line)) {
		struct maps_line parsed;
		int err;

		if (!parse_line(line, &parsed))
			return -EBADMSG;
		err = fn(&parsed, ctx);
		if (err)
			return err;
	}
	return 0;
}
