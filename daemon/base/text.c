/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Strict readers of text. They are written by hand because strtoull() and its relatives skip
 * blanks, accept signs, follow the locale and wrap. A reader that fails leaves its cursor where it
 * was.
 */
#include "base/text.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool text_line(struct text *text, struct text *ret_line)
{
	if (text->at >= text->end)
		return false;
	const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	*ret_line = (struct text){text->at, newline ? newline : text->end};
	text->at = newline ? newline + 1 : text->end;
	return true;
}

bool text_until(struct text *text, char separator, struct text *ret_field)
{
	const char *end = memchr(text->at, separator, (size_t)(text->end - text->at));

	if (!end)
		return false;
	*ret_field = (struct text){text->at, end};
	text->at = end + 1;
	return true;
}

bool text_word(struct text *text, struct text *ret_word)
{
	const char *at = text->at;

	while (at < text->end && is_blank(*at))
		at++;
	const char *word = at;
	while (at < text->end && !is_blank(*at))
		at++;
	if (word == at)
		return false;
	*ret_word = (struct text){word, at};
	text->at = at;
	return true;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* -EINVAL without a digit, -ERANGE when the value does not fit. */
static int read_number(struct text *text, unsigned int base, uint64_t *ret_value)
{
	const char *at = text->at;
	uint64_t value = 0;

	for (; at < text->end; at++) {
		unsigned int digit = (unsigned int)digit_of(*at);
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return -ERANGE;
	}
	if (at == text->at)
		return -EINVAL;
	text->at = at;
	*ret_value = value;
	return 0;
}

bool text_hex(struct text *text, uint64_t *ret_value)
{
	return read_number(text, 16, ret_value) == 0;
}

bool text_decimal(struct text *text, uint64_t *ret_value)
{
	return read_number(text, 10, ret_value) == 0;
}

bool text_char(struct text *text, char c)
{
	if (text->at >= text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

bool text_equals(struct text text, const char *string)
{
	size_t len = strlen(string);

	return (size_t)(text.end - text.at) == len && !memcmp(text.at, string, len);
}

int text_parse_u64(const char *string, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	struct text text = text_of(string, strlen(string));
	uint64_t value;

	int err = read_number(&text, 10, &value);
	/* "99999999999999999999x" is not a number, however long it is. */
	if (err == -ERANGE)
		return strspn(string, "0123456789") == strlen(string) ? -ERANGE : -EINVAL;
	if (err < 0 || text.at != text.end)
		return -EINVAL;
	if (value < min || value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit duration_units[] = {
	{"d", 86400 * NSEC_PER_SEC},
	{"h", 3600 * NSEC_PER_SEC},
	{"m", 60 * NSEC_PER_SEC},
	{"s", NSEC_PER_SEC},
	{"ms", NSEC_PER_MSEC},
	{"us", 1000},
	{"ns", 1},
	{NULL, 0},
};

static const struct unit size_units[] = {
	{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0},
};

/* The unit at the cursor: its letters up to the next digit, or the end. */
static const struct unit *read_unit(struct text *text, const struct unit *units)
{
	struct text name = {text->at, text->at};

	while (name.end < text->end && (*name.end < '0' || *name.end > '9'))
		name.end++;
	for (const struct unit *unit = units; unit->name; unit++) {
		if (text_equals(name, unit->name)) {
			text->at = name.end;
			return unit;
		}
	}
	return NULL;
}

int text_parse_duration(const char *string, uint64_t *ret_ns)
{
	const uint64_t year_ns = 366 * 86400 * NSEC_PER_SEC;
	struct text text = text_of(string, strlen(string));
	uint64_t total = 0, last_factor = UINT64_MAX;

	do {
		uint64_t value, part;
		int err = read_number(&text, 10, &value);
		if (err < 0)
			return err;
		/* A number without a unit is seconds, but only alone: "1h30" is ambiguous. */
		bool bare = text.at == text.end && last_factor == UINT64_MAX;
		const struct unit *unit = bare ? NULL : read_unit(&text, duration_units);
		uint64_t factor = bare ? NSEC_PER_SEC : unit ? unit->factor : 0;
		/* Each unit may occur once, the largest first. */
		if (!factor || factor >= last_factor)
			return -EINVAL;
		last_factor = factor;
		if (__builtin_mul_overflow(value, factor, &part) ||
		    __builtin_add_overflow(total, part, &total) || total > year_ns)
			return -ERANGE;
	} while (text.at < text.end);

	*ret_ns = total;
	return 0;
}

int text_parse_size(const char *string, uint64_t *ret_bytes)
{
	struct text text = text_of(string, strlen(string));
	uint64_t value;

	int err = read_number(&text, 10, &value);
	if (err < 0)
		return err;
	if (text.at < text.end) {
		const struct unit *unit = read_unit(&text, size_units);
		if (!unit || text.at != text.end)
			return -EINVAL;
		if (__builtin_mul_overflow(value, unit->factor, &value))
			return -ERANGE;
	}
	*ret_bytes = value;
	return 0;
}

size_t text_utf8_prefix(const char *bytes, size_t len)
{
	const uint8_t *at = (const uint8_t *)bytes;
	size_t done = 0;

	while (done < len) {
		uint8_t first = at[done];
		size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;

		/* 80 to c1 cannot begin a character or would be overlong; above f4 is beyond
		 * U+10FFFF. */
		if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || more >= len - done)
			return done;
		for (size_t i = 1; i <= more; i++) {
			if ((at[done + i] & 0xc0) != 0x80)
				return done;
		}
		/* Overlong forms, surrogates, and beyond U+10FFFF show in the second byte. */
		if ((first == 0xe0 && at[done + 1] < 0xa0) ||
		    (first == 0xed && at[done + 1] > 0x9f) ||
		    (first == 0xf0 && at[done + 1] < 0x90) ||
		    (first == 0xf4 && at[done + 1] > 0x8f))
			return done;
		done += more + 1;
	}
	return done;
}

bool text_has_end(const char *string, const char *end)
{
	size_t len = strlen(string), end_len = strlen(end);

	return len >= end_len && !strcmp(string + len - end_len, end);
}

bool text_matches(const char *string, const char *pattern)
{
	size_t len = strcspn(pattern, "*");

	return !strncmp(pattern, string, len) && (pattern[len] || !string[len]);
}
