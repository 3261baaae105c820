/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_lines.h"

#include "base/clean.h"

#include <errno.h>
#include <string.h>

struct row {
	uint32_t offset, line, file;
};

struct jit_lines *jit_lines_new(uint64_t code)
{
	struct jit_lines *lines = calloc(1, sizeof(*lines));

	if (lines)
		lines->code = code;
	return lines;
}

void jit_lines_free(struct jit_lines *lines)
{
	if (!lines)
		return;
	buf_release(&lines->rows);
	buf_release(&lines->files);
	free(lines);
}

static const struct row *rows_of(const struct jit_lines *lines, size_t *ret_count)
{
	*ret_count = lines->rows.len / sizeof(struct row);
	return (const struct row *)lines->rows.data;
}

static void add_file(struct jit_lines *lines, const char *file)
{
	size_t at = lines->files.len;

	if (at && !strcmp((const char *)lines->files.data + lines->file, file))
		return;
	buf_add(&lines->files, file, strlen(file) + 1);
	if (buf_error(&lines->files))
		return;
	clean_text((char *)lines->files.data + at);
	lines->file = (uint32_t)at;
}

int jit_lines_add(struct jit_lines *lines, uint64_t address, uint32_t line, const char *file)
{
	uint64_t offset = address - lines->code;
	struct row row = {.offset = (uint32_t)offset, .line = line};
	const struct row *rows;
	size_t count;

	if (file)
		add_file(lines, file);
	rows = rows_of(lines, &count);
	if (offset > UINT32_MAX || !lines->files.len ||
	    (count && rows[count - 1].offset > row.offset))
		return 0;
	row.file = lines->file;
	buf_add(&lines->rows, &row, sizeof(row));
	return buf_error(&lines->rows) ?: buf_error(&lines->files);
}

uint32_t jit_lines_find(const struct jit_lines *lines, uint64_t address, const char **ret_file)
{
	size_t low = 0, high;
	const struct row *rows = rows_of(lines, &high);

	/* The first row behind the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].offset <= address - lines->code)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	*ret_file = (const char *)lines->files.data + rows[low - 1].file;
	return rows[low - 1].line;
}

uint32_t jit_lines_first(const struct jit_lines *lines)
{
	size_t count;
	const struct row *rows = rows_of(lines, &count);

	return count ? rows[0].line : 0;
}

size_t jit_lines_bytes(const struct jit_lines *lines)
{
	return lines ? sizeof(*lines) + lines->rows.capacity + lines->files.capacity : 0;
}
