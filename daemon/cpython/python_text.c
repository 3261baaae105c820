/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Converts one character at a time, in this machine's byte order and at any alignment.
 */
#include "cpython/python_text.h"

#include <string.h>

enum {
	REPLACEMENT = 0xfffd,
	MAX_CHARACTER = 0x10ffff,
	MAX_UTF_8 = 4, /* bytes of one character */
};

size_t python_text_width(unsigned int kind)
{
	switch (kind) {
	case TEXT_ASCII:
	case TEXT_LATIN_1:
		return 1;
	case TEXT_UCS_2:
		return 2;
	case TEXT_UCS_4:
		return 4;
	default:
		return 0;
	}
}

static uint32_t read_character(unsigned int kind, const uint8_t *bytes)
{
	uint16_t narrow;
	uint32_t wide;

	switch (kind) {
	case TEXT_ASCII:
		return bytes[0] < 0x80 ? bytes[0] : REPLACEMENT;
	case TEXT_LATIN_1:
		return bytes[0];
	case TEXT_UCS_2:
		memcpy(&narrow, bytes, sizeof(narrow));
		return narrow;
	default:
		memcpy(&wide, bytes, sizeof(wide));
		return wide;
	}
}

static uint32_t make_shown(uint32_t character)
{
	/* The control characters of ASCII and Latin-1, and the two other line ends. */
	if (character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
	    character == 0x2029)
		return ' ';
	if (character > MAX_CHARACTER || (character >= 0xd800 && character < 0xe000))
		return REPLACEMENT;
	return character;
}

static size_t encode(uint32_t character, uint8_t into[MAX_UTF_8])
{
	static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t len = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

	for (size_t at = len - 1; at > 0; at--, character >>= 6)
		into[at] = 0x80 | (character & 0x3f);
	into[0] = (uint8_t)(lead[len] | character);
	return len;
}

void python_text_add(struct buf *buf, unsigned int kind, const uint8_t *bytes, size_t len, bool cut)
{
	size_t width = python_text_width(kind);

	for (size_t at = 0; width && len - at >= width; at += width) {
		uint8_t utf_8[MAX_UTF_8];

		buf_add(buf, utf_8, encode(make_shown(read_character(kind, bytes + at)), utf_8));
	}
	if (cut)
		buf_add_text(buf, "...");
}
