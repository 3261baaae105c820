/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cleans names, in one place for all formats.
 */
#include "encode/names.h"

#include "base/clean.h"

#include <string.h>

void add_utf8(struct buf *out, const char *string)
{
	size_t len = strlen(string);

	for (;;) {
		size_t valid = clean_prefix(string, len);

		buf_add(out, string, valid);
		if (valid == len)
			return;
		string += valid;
		len -= valid;
		buf_add_text(out, clean_is_control(string, len) ? " " : "\xef\xbf\xbd");
		valid = clean_skip(string, len);
		string += valid;
		len -= valid;
	}
}

void add_word(struct buf *out, const char *string, char separator)
{
	size_t start = out->len;

	add_utf8(out, string);
	for (size_t i = start; separator && i < out->len; i++)
		if (out->data[i] == (uint8_t)separator)
			out->data[i] = ':';
}

void add_cut_word(struct buf *out, const char *string, size_t max)
{
	_cleanup_(buf_release) struct buf whole = BUF_INIT;
	size_t len;

	add_utf8(&whole, string);
	len = whole.len < max ? whole.len : max;
	/* Do not split a character. */
	while (len && len < whole.len && (whole.data[len] & 0xc0) == 0x80)
		len--;
	buf_add(out, buf_text(&whole), len);
	if (len < whole.len)
		buf_add_text(out, CUT_MARK);
	if (!out->error)
		out->error = buf_error(&whole);
}

const char *function_name(const struct profile *profile, uint32_t function)
{
	const char *name = profile_string(profile, profile->functions[function].name);

	return *name ? name : UNNAMED;
}
