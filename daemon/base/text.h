/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Strict readers of text from people and from the kernel: a number is the whole text or it is an
 * error, nothing is guessed, nothing wraps. All functions are pure and take (bytes, length) or a
 * NUL-terminated string as declared. Results are written only on success.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cursor over untrusted text that is not NUL-terminated. */
struct text {
	const char *at, *end;
};

static inline struct text text_of(const char *bytes, size_t len)
{
	return (struct text){bytes, bytes + len};
}

bool text_line(struct text *text, struct text *ret_line); /* next line without its newline */
bool text_word(struct text *text, struct text *ret_word); /* next run of non-blanks */
bool text_hex(struct text *text, uint64_t *ret_value); /* hexadecimal digits, no 0x; at least one */
bool text_decimal(struct text *text, uint64_t *ret_value); /* decimal digits; at least one */
bool text_char(struct text *text, char c);                 /* skips one expected character */
/* The text before the next separator, which is skipped. */
bool text_until(struct text *text, char separator, struct text *ret_field);
bool text_equals(struct text text, const char *string);
bool text_has_end(const char *string, const char *end);
/* Whether a string is the pattern, or begins with it where the pattern ends with '*'. */
bool text_matches(const char *string, const char *pattern);

/* -EINVAL when it is not a number, -ERANGE when it is outside [min, max]. */
int text_parse_u64(const char *string, uint64_t min, uint64_t max, uint64_t *ret_value);
/* "90", "90s", "5m", "1h30m", "500ms" to nanoseconds; a bare number is seconds. -EINVAL, -ERANGE
 * over a year. */
int text_parse_duration(const char *string, uint64_t *ret_ns);
/* Unix seconds (fractions allowed) or RFC 3339 ("2026-11-21T12:00:00Z", "+01:00", fractions) to
 * nanoseconds. */
int text_parse_time(const char *string, uint64_t *ret_unix_ns);
enum { TIME_TEXT_BYTES = 40 };
/* RFC 3339 in UTC with milliseconds: "2026-11-21T12:00:00.000Z". */
void text_format_time(uint64_t unix_ns, char text[TIME_TEXT_BYTES]);
/* "64MiB", "512KiB", "1GiB", "1048576" to bytes. */
int text_parse_size(const char *string, uint64_t *ret_bytes);

/* Length of the longest valid UTF-8 prefix of the bytes; `len` when all of it is valid. */
size_t text_utf8_prefix(const char *bytes, size_t len);
