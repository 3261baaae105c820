/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a map of generated code: names lie inside the input, the parts of a name inside the
 * name, and the codes of all lines are sorted and do not overlap.
 */
#include "jit/jit_codes.h"
#include "jit/jit_name.h"
#include "jit/perf_map.h"

#include <stdlib.h>

static void check_inside(struct text part, struct text whole)
{
	if (part.at > part.end ||
	    (part.at < part.end && (part.at < whole.at || part.end > whole.end)))
		abort();
}

static void check_sorted(const struct jit_codes *codes)
{
	for (size_t i = 0; i < codes->count; i++) {
		const struct jit_code *code = &codes->at[i];

		if (code->start >= code->end || (i && code[-1].end > code->start) ||
		    jit_codes_find(codes, code->start) != code ||
		    jit_codes_find(codes, code->end - 1) != code)
			abort();
	}
}

static size_t read_all(struct text rest, struct jit_codes *ret_codes)
{
	struct perf_map_line line;

	while (perf_map_next(&rest, &line)) {
		struct jit_name name = jit_name_split(line.name);

		check_inside(line.name, (struct text){line.name.at, rest.at});
		check_inside(name.file, line.name);
		if (!name.function.at)
			abort();
		if (jit_codes_append(ret_codes, line.start, line.size, line.name.at,
		                     (size_t)(line.name.end - line.name.at), NULL))
			abort();
	}
	if (jit_codes_sort(ret_codes))
		abort();
	check_sorted(ret_codes);
	return ret_codes->count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = text_of((const char *)data, size), first = text_of(text.at, size / 2);
	struct jit_codes codes = {0}, told = {0};
	struct jit_ranges gone = {0};

	read_all(first, &codes);
	read_all(text, &told);
	if (jit_codes_lay(&codes, &told, 2, &gone))
		abort();
	check_sorted(&codes);
	jit_codes_release(&codes);
	jit_ranges_release(&gone);
	return 0;
}
