/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is harmless and what is not.
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

size_t clean_prefix(const char *bytes, size_t len)
{
	size_t plain = 0;

	/* First up to a control character, so that no byte is looked at again and again. */
	while (plain < len && !clean_is_control(bytes + plain, len - plain))
		plain++;
	return text_utf8_prefix(bytes, plain);
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
