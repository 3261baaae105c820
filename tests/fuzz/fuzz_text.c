/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes through every text parser. Cursors must never leave the bytes or move back.
 */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_line(struct text line)
{
	struct text word;
	uint64_t value;

	for (struct text rest = line; text_word(&rest, &word);) {
		if (word.at < line.at || word.end > line.end || word.at >= word.end)
			abort();
		text_equals(word, "rest");
	}
	while (line.at < line.end) {
		const char *before = line.at;
		if (!text_hex(&line, &value) && !text_decimal(&line, &value))
			text_char(&line, *line.at);
		/* Digits of a number that does not fit are not skipped. */
		if (line.at == before)
			line.at++;
		if (line.at > line.end)
			abort();
	}
}

static void read_string(const char *string)
{
	uint64_t value;

	if (text_parse_u64(string, 5, 1000, &value) == 0 && (value < 5 || value > 1000))
		abort();
	text_parse_duration(string, &value);
	text_parse_time(string, &value);
	text_parse_size(string, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text rest = text_of((const char *)data, size), line;

	while (text_line(&rest, &line))
		read_line(line);

	size_t valid = text_utf8_prefix((const char *)data, size);
	if (valid > size || text_utf8_prefix((const char *)data, valid) != valid)
		abort();

	char *string = strndup((const char *)data, size);
	if (string)
		read_string(string);
	free(string);
	return 0;
}
