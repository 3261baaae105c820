/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a jitdump file, read in pieces: reading ends, and pieces of code are sorted and have
 * lines in their own files only.
 */
#include "jit/jit_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check(const struct jit_codes *codes)
{
	for (size_t i = 0; i < codes->count; i++) {
		const struct jit_code *code = &codes->at[i];
		const char *file = "";

		if (code->start >= code->end || (i && code[-1].end > code->start))
			abort();
		if (code->lines && (jit_lines_find(code->lines, code->start, &file) > UINT32_MAX ||
		                    jit_lines_find(code->lines, code->end - 1, &file) > UINT32_MAX))
			abort();
		/* The sanitizer sees whether the file's name ends. */
		if (strlen(file) > SIZE_MAX / 2)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size ? 16 + data[0] * 16U : 0;
	struct jit_codes codes = {0};
	uint64_t at = jit_dump_header(data, size), next;
	bool has_low_rows = false;
	int err = 0;

	while (!err && at < size) {
		size_t len = size - at < piece ? size - at : piece;

		err = jit_dump_read(data + at, len, len == piece, &has_low_rows, &codes, &next);
		if (err && err != -EBADMSG)
			abort();
		if (!err && !next && len == piece && codes.count < JIT_TOLD_EACH)
			abort();
		if (!next)
			break;
		at += next;
	}
	if (jit_codes_sort(&codes))
		abort();
	check(&codes);
	jit_codes_release(&codes);
	return 0;
}
