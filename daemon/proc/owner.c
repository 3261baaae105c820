/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "Uid:\tREAL\tEFFECTIVE\t..." begins a line. A name, which is in a line above, has its newlines
 * escaped.
 */
#include "proc/owner.h"

#include "base/buf.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STATUS_BYTES = 16384 };

uint32_t owner_parse(const char *bytes, size_t len)
{
	static const char key[] = "\nUid:";
	const char *line = len ? memmem(bytes, len, key, sizeof(key) - 1) : NULL;
	struct text text, word;
	uint64_t owner;

	if (!line)
		return OWNER_UNKNOWN;
	text = (struct text){line + sizeof(key) - 1, bytes + len};
	while (text.at < text.end && *text.at == '\t')
		text.at++;
	word = text;
	if (!text_decimal(&word, &owner) || owner >= OWNER_UNKNOWN)
		return OWNER_UNKNOWN;
	return (uint32_t)owner;
}

uint32_t owner_read(uint32_t pid)
{
	_cleanup_(buf_release) struct buf status = BUF_INIT;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (buf_read_file(&status, path, MAX_STATUS_BYTES))
		return OWNER_UNKNOWN;
	return owner_parse(buf_text(&status), status.len);
}
