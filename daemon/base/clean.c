/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the harmless part of a text.
 */
#include "base/clean.h"

#include "base/text.h"

#include <string.h>

/* U+0080 to U+009F */
static bool is_second_set(const char *bytes, size_t len)
{
	return len > 1 && (unsigned char)bytes[0] == 0xc2 && (unsigned char)bytes[1] >= 0x80 &&
	       (unsigned char)bytes[1] < 0xa0;
}

bool clean_is_control(const char *bytes, size_t len)
{
	unsigned char c = (unsigned char)bytes[0];

	return c < ' ' || c == 0x7f || is_second_set(bytes, len);
}

/* The number of bytes of a character that begins with this byte; 1 also when none begins with
 * it. */
static size_t length_of(unsigned char first)
{
	return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Goes character by character, so that no byte after a harmful one is read before that one is
 * handled. */
size_t clean_prefix(const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len && !clean_is_control(bytes + at, len - at)) {
		size_t next = length_of((unsigned char)bytes[at]);

		if (next > len - at || text_utf8_prefix(bytes + at, next) != next)
			break;
		at += next;
	}
	return at;
}

size_t clean_skip(const char *bytes, size_t len)
{
	return is_second_set(bytes, len) ? 2 : 1;
}

void clean_text(char *text)
{
	size_t len = strlen(text), at = 0;

	while ((at += clean_prefix(text + at, len - at)) < len) {
		size_t skip = clean_skip(text + at, len - at);

		memset(text + at, '?', skip);
		at += skip;
	}
}
