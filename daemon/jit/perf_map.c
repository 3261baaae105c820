/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/perf_map.h"

#include <string.h>

static void skip(struct text *text, const char *characters)
{
	while (text->at < text->end && memchr(characters, *text->at, strlen(characters)))
		text->at++;
}

/* Some programs write "0x" before a number. */
static bool read_hex(struct text *line, uint64_t *ret_value)
{
	skip(line, " \t");
	if (line->end - line->at > 2 && line->at[0] == '0' && (line->at[1] | 0x20) == 'x')
		line->at += 2;
	return text_hex(line, ret_value);
}

static bool parse(struct text line, struct perf_map_line *ret_line)
{
	uint64_t start, size;

	if (!read_hex(&line, &start) || !read_hex(&line, &size))
		return false;
	skip(&line, " \t");
	if (line.at < line.end && line.end[-1] == '\r')
		line.end--;
	*ret_line = (struct perf_map_line){start, size, line};
	return line.at < line.end;
}

bool perf_map_next(struct text *rest, struct perf_map_line *ret_line)
{
	const char *newline;

	while (rest->at < rest->end &&
	       (newline = memchr(rest->at, '\n', (size_t)(rest->end - rest->at)))) {
		struct text line = {rest->at, newline};

		rest->at = newline + 1;
		if (parse(line, ret_line))
			return true;
	}
	return false;
}
