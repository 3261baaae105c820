/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parses "PID (NAME) STATE PARENT ...". The name may contain blanks and parentheses, so the last
 * closing parenthesis ends it.
 */
#include "proc/parent.h"

#include "base/buf.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STAT_BYTES = 4096 };

uint32_t parent_parse(const char *bytes, size_t len)
{
	const char *name_end = len ? memrchr(bytes, ')', len) : NULL;
	struct text text, state, word;
	uint64_t parent;

	if (!name_end)
		return 0;
	text = (struct text){name_end + 1, bytes + len};
	if (!text_word(&text, &state) || !text_word(&text, &word) ||
	    !text_decimal(&word, &parent) || word.at != word.end || parent > INT32_MAX)
		return 0;
	return (uint32_t)parent;
}

uint32_t parent_read(uint32_t pid)
{
	_cleanup_(buf_release) struct buf stat = BUF_INIT;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (buf_read_file(&stat, path, MAX_STAT_BYTES))
		return 0;
	return parent_parse(buf_text(&stat), stat.len);
}
